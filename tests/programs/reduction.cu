// Sum of an array: a tree in shared memory, then the same with warp shuffles and one atomic addition a block.

constexpr int THREADS = 128;

extern "C" __global__ void sum_tree(const float* x, float* partial, int n) {
    __shared__ float tree[THREADS];
    int t = threadIdx.x;
    float own = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) own += x[i];
    tree[t] = own;
    __syncthreads();  // all leaves are there before anyone adds two of them
    for (int width = THREADS / 2; width > 0; width /= 2) {
        if (t < width) tree[t] += tree[t + width];
        __syncthreads();  // one level is complete before the next reads it
    }
    if (t == 0) partial[blockIdx.x] = tree[0];
}

__device__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;  // right in lane 0 only
}

extern "C" __global__ void sum_shuffle(const float* x, float* total, int n) {
    __shared__ float of_warp[THREADS / 32];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float own = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) own += x[i];
    own = warp_sum(own);
    if (lane == 0) of_warp[warp] = own;
    __syncthreads();
    if (warp == 0) {
        float value = lane < THREADS / 32 ? of_warp[lane] : 0.0f;
        value = warp_sum(value);
        if (lane == 0) atomicAdd(total, value);
    }
}

// With the butterfly every lane has the result, so each can use it: here, the position of the largest element.
extern "C" __global__ void warp_argmax(const int* x, int* where, int n) {
    int lane = threadIdx.x % 32;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int best = -2147483647 - 1, index = -1;
    for (int i = lane; i < n; i += 32) {
        int value = x[row * n + i];
        if (value > best) {
            best = value;
            index = i;
        }
    }
    for (int mask = 16; mask > 0; mask /= 2) {
        int other = __shfl_xor_sync(0xffffffffu, best, mask);
        int at = __shfl_xor_sync(0xffffffffu, index, mask);
        if (other > best || (other == best && at >= 0 && (index < 0 || at < index))) {
            best = other;
            index = at;
        }
    }
    if (lane == 0) where[row] = index;
}
