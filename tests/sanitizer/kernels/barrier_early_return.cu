// Threads without an element return before the barrier. Since Volta it does not wait for them; the language forbids it.
extern "C" __global__ void barrier_early_return(float* y, const float* x, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int last = min(n - blockIdx.x * 64, 64) - 1;
#ifdef BUG
    if (i >= n) return;
    tile[t] = x[i];
    __syncthreads();  // BUG: barrier
    y[i] = tile[last - t];
#else
    if (i < n) tile[t] = x[i];
    __syncthreads();
    if (i < n) y[i] = tile[last - t];
#endif
}
