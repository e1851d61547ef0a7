// The first thread reads x[-1]: no element lies left of the first, and the GPU reads whatever another array holds there.
extern "C" __global__ void bounds_before_start(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    float left = x[i - 1];  // BUG: out_of_bounds
#else
    float left = i > 0 ? x[i - 1] : 0.0f;
#endif
    y[i] = x[i] - left;
}
