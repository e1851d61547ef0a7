// Half of the warp has left the kernel, and the lanes that are left ask it for values.
extern "C" __global__ void shuffle_half_left(int* y, const int* x) {
    int lane = threadIdx.x;
    if (lane >= 16) return;
    int value = x[lane];
#ifdef BUG
    y[lane] = value - __shfl_down_sync(0xffffffff, value, 8);  // BUG: shuffle
#else
    y[lane] = value - __shfl_down_sync(0x0000ffff, value, 8, 16);
#endif
}
