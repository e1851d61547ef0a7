// Each branch has a barrier of its own: the halves of the block wait for each other in two places.
extern "C" __global__ void barrier_two_branches(float* y, const float* x) {
    __shared__ float tile[64];
    int t = threadIdx.x;
#ifdef BUG
    if (t < 40) {
        tile[t] = x[t];
        __syncthreads();  // BUG: barrier
        y[t] = tile[t] + 1.0f;
    } else {
        tile[t] = 2.0f * x[t];
        __syncthreads();  // BUG: barrier
        y[t] = tile[t] - 1.0f;
    }
#else
    tile[t] = t < 40 ? x[t] : 2.0f * x[t];
    __syncthreads();
    y[t] = t < 40 ? tile[t] + 1.0f : tile[t] - 1.0f;
#endif
}
