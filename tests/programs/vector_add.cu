// Vector addition: a grid of any size covers an array of any length, by strides of the whole grid.

extern "C" __global__ void add_one_each(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];  // the last block is larger than what is left
}

extern "C" __global__ void add_grid_stride(const float* a, const float* b, float* c, int n) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        c[i] = a[i] + b[i];  // neighbouring threads keep to neighbouring elements
}

// The opposite choice: each thread owns a run of neighbours, so that a warp's loads lie far apart.
extern "C" __global__ void add_by_runs(const float* a, const float* b, float* c, int n) {
    int threads = gridDim.x * blockDim.x;
    int run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    int last = min(first + run, n);
    for (int i = first; i < last; ++i) c[i] = a[i] + b[i];
}

extern "C" __global__ void fill_indices(int* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = i * 3 - n;
}
