// A shift to the right writes y[n]: it destroys the first bytes of whatever array lies behind y.
extern "C" __global__ void bounds_write_after_end(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i == 0) y[0] = 0.0f;
#ifdef BUG
    y[i + 1] = x[i];  // BUG: out_of_bounds
#else
    if (i + 1 < n) y[i + 1] = x[i];
#endif
}
