// One warp, no __syncwarp: since Volta the lanes of a warp need not run in step, so this works by luck.
extern "C" __global__ void race_warp_reduction(int* y, const int* x) {
    __shared__ int sum[32];
    volatile int* sums = sum;
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 32 + t];
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        if (t < step) sums[t] = sums[t] + sums[t + step];  // BUG: race
#ifndef BUG
        __syncwarp();  // this step's sums are complete
#endif
    }
    if (t == 0) y[blockIdx.x] = sums[0];
}
