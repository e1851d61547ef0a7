// The loop forgets to advance its index: the condition stays true for ever.
extern "C" __global__ void loop_never_advances(float* y, const float* x, int n) {
    int i = threadIdx.x;
#ifdef BUG
    while (i < n) *(volatile float*)(y + i) = 2.0f * x[i];  // BUG: endless_loop
#else
    while (i < n) {
        y[i] = 2.0f * x[i];
        i += blockDim.x;
    }
#endif
}
