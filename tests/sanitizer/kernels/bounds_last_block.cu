// No bounds check: the last block has more threads than elements are left, and these threads read and write past the end.
extern "C" __global__ void bounds_last_block(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef BUG
    y[i] = 2.0f * x[i];  // BUG: out_of_bounds
#else
    if (i < n) y[i] = 2.0f * x[i];
#endif
}
