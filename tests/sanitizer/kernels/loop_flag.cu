// Everybody waits for a flag that nobody raises.
extern "C" __global__ void loop_flag(int* y, int* flag) {
    int t = threadIdx.x;
#ifndef BUG
    if (t == 5) atomicExch(flag, 7);
#endif
    while (*(volatile int*)flag == 0) {}  // BUG: endless_loop
    y[t] = *(volatile int*)flag * t;
}
