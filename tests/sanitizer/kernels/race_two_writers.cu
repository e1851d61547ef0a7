// Two threads write different values to one place: which of them stays depends on the order of the warps.
extern "C" __global__ void race_two_writers(int* y, const float* x) {
    __shared__ int winner;
    int t = threadIdx.x;
#ifndef BUG
    if (t == 0) winner = 1000;
    __syncthreads();
#endif
    float value = x[blockIdx.x * 64 + t];
#ifdef BUG
    if (value > 2.0f) winner = t;  // BUG: race
#else
    if (value > 2.0f) atomicMin(&winner, t);
#endif
    __syncthreads();
    if (t == 0) y[blockIdx.x] = winner;
}
