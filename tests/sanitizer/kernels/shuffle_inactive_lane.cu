// Lanes 0 to 15 ask lanes 16 to 31 for their values, but these are not in the branch: what comes back is undefined.
extern "C" __global__ void shuffle_inactive_lane(int* y, const int* x) {
    int lane = threadIdx.x;
    int value = x[blockIdx.x * 32 + lane];
#ifdef BUG
    if (lane < 16)
        y[blockIdx.x * 16 + lane] = value + __shfl_sync(0x0000ffff, value, lane + 16);  // BUG: shuffle
#else
    int other = __shfl_sync(0xffffffff, value, lane + 16);
    if (lane < 16) y[blockIdx.x * 16 + lane] = value + other;
#endif
}
