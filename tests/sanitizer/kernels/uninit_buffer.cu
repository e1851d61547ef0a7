// The scratch array is read before it is filled: fresh memory, whose numbers mean nothing.
extern "C" __global__ void uninit_buffer(float* y, const float* x, float* scratch, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    y[i] = scratch[i] + x[i];  // BUG: uninitialized
    scratch[i] = x[i] * x[i];
#else
    scratch[i] = x[i] * x[i];
    y[i] = scratch[i] + x[i];
#endif
}
