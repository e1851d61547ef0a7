// A histogram whose values may lie below the first bin: the atomic hits shared memory before the array.
extern "C" __global__ void bounds_shared_before_start(int* y, const int* x, int first, int n) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        int bin = x[i] - first;
#ifdef BUG
        atomicAdd(&bins[bin], 1);  // BUG: out_of_bounds
#else
        if (bin >= 0) atomicAdd(&bins[bin], 1);
#endif
    }
    __syncthreads();
    if (t < 16) y[t] = bins[t];
}
