// Counting into an output that nobody cleared: atomicAdd, too, reads what was there before.
extern "C" __global__ void uninit_histogram(int* y, const int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    if (i < n) atomicAdd(&y[x[i]], 1);  // BUG: uninitialized
#else
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&bins[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 8) y[threadIdx.x] = bins[threadIdx.x];
#endif
}
