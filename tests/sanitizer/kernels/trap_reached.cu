// __trap ends the whole program; here one odd value is enough.
extern "C" __global__ void trap_reached(int* y, const int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    if (x[i] > 90) __trap();  // BUG: trap
#else
    if (x[i] > 99) __trap();
#endif
    y[i] = x[i] / 2;
}
