// Thirty-two threads clear thirty-two bins, but there are forty-eight: the rest count on from leftovers.
extern "C" __global__ void uninit_bins(int* y, const int* x, int n, int bins) {
    extern __shared__ int histogram[];
    int t = threadIdx.x;
#ifdef BUG
    if (t < bins) histogram[t] = 0;
#else
    for (int bin = t; bin < bins; bin += 32) histogram[bin] = 0;
#endif
    __syncthreads();
    for (int i = t; i < n; i += 32)
        atomicAdd(&histogram[x[i]], 1);  // BUG: uninitialized
    __syncthreads();
    for (int bin = t; bin < bins; bin += 32) y[bin] = histogram[bin];
}
