// Only the threads in the branch reach the barrier; the others leave the kernel without ever coming by.
extern "C" __global__ void barrier_in_branch(float* y, const float* x, int width) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    y[64 + t] = -x[t];
#ifdef BUG
    if (t < width) {
        tile[t] = x[t];
        __syncthreads();  // BUG: barrier
        y[t] = tile[width - 1 - t];
    }
#else
    if (t < width) tile[t] = x[t];
    __syncthreads();
    if (t < width) y[t] = tile[width - 1 - t];
#endif
}
