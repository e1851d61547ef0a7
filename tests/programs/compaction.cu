// Stream compaction: keep what passes a test, side by side. A ballot and a count of bits give each lane its place.

constexpr int THREADS = 128, WARPS = THREADS / 32;

// Warps reserve room with one atomic each: order holds within a warp only.
extern "C" __global__ void keep_positive(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = i < n && x[i] > 0;
    unsigned int votes = __ballot_sync(0xffffffffu, keep);
    int base = 0;
    if (lane == 0 && votes) base = atomicAdd(count, __popc(votes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = x[i];
}

// One block, order kept: warps learn from shared memory how many elements the warps before them keep.
extern "C" __global__ void keep_positive_in_order(const int* x, int* out, int* count, int n) {
    __shared__ int of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int base = 0;
    for (int first = 0; first < n; first += THREADS) {
        int i = first + threadIdx.x;
        bool keep = i < n && x[i] > 0;
        unsigned int votes = __ballot_sync(0xffffffffu, keep);
        if (lane == 0) of_warp[warp] = __popc(votes);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < WARPS; ++w) {
            if (w < warp) before += of_warp[w];
            all += of_warp[w];
        }
        if (keep) out[base + before + __popc(votes & ((1u << lane) - 1))] = x[i];
        base += all;
        __syncthreads();  // counts are read before the next round writes them
    }
    if (threadIdx.x == 0) *count = base;
}

// Only the lanes that are there reserve room together: the mask is whoever came.
extern "C" __global__ void keep_even(const int* x, int* out, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i < n && x[i] % 2 == 0) {
        unsigned int here = __activemask();
        int leader = __ffs(here) - 1, base = 0;
        if (lane == leader) base = atomicAdd(count, __popc(here));
        base = __shfl_sync(here, base, leader);
        out[base + __popc(here & ((1u << lane) - 1))] = x[i];
    }
}

extern "C" __global__ void warp_facts(const int* x, int* all, int* any, unsigned int* zeros, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32;
    int value = i < n ? x[i] : 1;
    int every = __all_sync(0xffffffffu, value > 0), some = __any_sync(0xffffffffu, value < -90);
    unsigned int none = __ballot_sync(0xffffffffu, value == 0);
    if (i % 32 == 0) {
        all[warp] = every;
        any[warp] = some;
        zeros[warp] = none;
    }
}
