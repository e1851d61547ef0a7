// A scan in place: a thread overwrites the partial sum that its right neighbour has yet to read in the same step.
extern "C" __global__ void race_scan(int* y, const int* x) {
    __shared__ int sum[2][64];
    int t = threadIdx.x, now = 0;
    sum[0][t] = x[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
#ifdef BUG
        if (t >= step) sum[0][t] += sum[0][t - step];  // BUG: race
#else
        sum[1 - now][t] = sum[now][t] + (t >= step ? sum[now][t - step] : 0);
        now = 1 - now;
#endif
        __syncthreads();  // this step's sums are complete
    }
    y[t] = sum[now][t];
}
