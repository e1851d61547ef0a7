// __match_any_sync: lanes with the same key find each other, and one of them counts for all.

constexpr unsigned ALL = 0xffffffff;

extern "C" __global__ void histogram(const int* keys, int* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int key = i < n ? keys[i] : -1;
    unsigned same = __match_any_sync(ALL, key);
    bool leader = lane == __ffs(same) - 1;
    if (leader && key >= 0) atomicAdd(&counts[key], __popc(same));
}

// How often each element occurs among the warp's lower lanes, and whether the whole warp agrees.
extern "C" __global__ void ranks(const long long* keys, int* rank, int* agree, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = __ballot_sync(ALL, i < n);
    if (i >= n) return;
    unsigned same = __match_any_sync(mask, keys[i]);
    rank[i] = __popc(same & ((1u << lane) - 1));
    int all;
    unsigned equal = __match_all_sync(mask, keys[i], &all);
    agree[i] = all && equal == mask;
}
