// A tree reduction without a barrier in its loop: each step reads sums that another warp may still be adding up.
extern "C" __global__ void race_reduction(int* y, const int* x) {
    __shared__ int sum[128];
    int t = threadIdx.x;
    sum[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) sum[t] += sum[t + step];  // BUG: race
#ifndef BUG
        __syncthreads();  // this step's sums are complete
#endif
    }
    if (t == 0) y[blockIdx.x] = sum[0];
}
