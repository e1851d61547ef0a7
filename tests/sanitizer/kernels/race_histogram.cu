// Counting with += in shared memory: two threads that read the same old count lose one of their two increments.
extern "C" __global__ void race_histogram(int* y, const int* x, int n) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += 64) {
#ifdef BUG
        bins[x[i]] += 1;  // BUG: race
#else
        atomicAdd(&bins[x[i]], 1);
#endif
    }
    __syncthreads();
    if (t < 16) y[t] = bins[t];
}
