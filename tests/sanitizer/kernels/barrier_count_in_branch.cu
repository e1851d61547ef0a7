// __syncthreads_count is a barrier, too: the warp that skips it waits at the next one.
extern "C" __global__ void barrier_count_in_branch(int* y, const float* x) {
    int t = threadIdx.x;
    int positive = 0;
#ifdef BUG
    if (t < 32) positive = __syncthreads_count(x[t] > 0.0f);  // BUG: barrier
#else
    positive = __syncthreads_count(t < 32 && x[t] > 0.0f);
#endif
    __syncthreads();  // BUG: barrier
    y[t] = t < 32 ? positive : -1;
}
