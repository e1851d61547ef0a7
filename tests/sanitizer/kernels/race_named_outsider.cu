// Two warps meet at a barrier of their own; the third one reads their tile, and was at another barrier.
extern "C" __global__ void race_named_outsider(int* y, const int* x) {
    __shared__ int tile[64];
    int t = threadIdx.x;  // of 96
    if (t < 64) {
        tile[t] = x[t];  // OTHER
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = tile[63 - t];
    } else {
        asm volatile("bar.sync 2, 32;" ::: "memory");
    }
#ifndef BUG
    __syncthreads();
#endif
    if (t >= 64) y[t] = tile[t - 64];  // BUG: race
}
