// Inside the array, yet one past what was written: the bounds are right, the value is none.
extern "C" __global__ void uninit_one_past_written(float* y, const float* x, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
#ifdef BUG
    if (t < n) y[t] = tile[t + 1] - tile[t];  // BUG: uninitialized
#else
    if (t < n) y[t] = tile[min(t + 1, n - 1)] - tile[t];
#endif
}
