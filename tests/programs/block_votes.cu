// Questions to a whole block: the barrier itself counts, or combines with "or" and "and", what its threads say.

extern "C" __global__ void count_above(const float* x, int* count, float threshold, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int above = i < n && x[i] > threshold;
    int of_block = __syncthreads_count(above);
    if (threadIdx.x == 0) count[blockIdx.x] = of_block;
}

// Each block says whether its part is in order, and whether it has a negative number.
extern "C" __global__ void examine(const int* x, int* sorted, int* negative, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in_order = i + 1 >= n || threadIdx.x + 1 == blockDim.x || x[i] <= x[i + 1];
    bool below = i < n && x[i] < 0;
    int all_in_order = __syncthreads_and(in_order);
    int any_below = __syncthreads_or(below);
    if (threadIdx.x == 0) {
        sorted[blockIdx.x] = all_in_order != 0;
        negative[blockIdx.x] = any_below != 0;
    }
}

// Connected components of a row of pixels: the smallest label spreads until no thread of the block changes any more.
extern "C" __global__ void label_runs(const int* colour, int* label, int n) {
    __shared__ int tag[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tag[t] = t;
    int changed;
    do {
        __syncthreads();  // labels of the last round are all written
        int own = tag[t];
        if (i < n && t > 0 && colour[i - 1] == colour[i]) own = min(own, tag[t - 1]);
        changed = own != tag[t];
        __syncthreads();  // everyone has read before anyone writes
        tag[t] = own;
    } while (__syncthreads_or(changed));
    if (i < n) label[i] = blockIdx.x * blockDim.x + tag[t];
}
