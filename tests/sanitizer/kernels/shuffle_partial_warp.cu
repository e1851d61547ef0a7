// The last warp has 8 threads: a reduction over 32 lanes reads from lanes that do not exist.
extern "C" __global__ void shuffle_partial_warp(int* y, const int* x) {
    int t = threadIdx.x;  // of 40
    int sum = x[t];
#ifdef BUG
    for (int step = 4; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);  // BUG: shuffle
#else
    unsigned mask = t < 32 ? 0xffffffff : 0x000000ff;
    for (int step = 4; step > 0; step /= 2)
        sum += __shfl_down_sync(mask, sum, step, 8);
#endif
    if (t % 8 == 0) y[t / 8] = sum;
}
