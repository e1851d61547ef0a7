// Rows counted with the height in place of the width: right for square pictures only, and past the end for tall ones.
extern "C" __global__ void bounds_wrong_stride(float* y, const float* x, int H, int W) {
    int w = threadIdx.x, h = blockIdx.x;
    if (w >= W) return;
#ifdef BUG
    float pixel = x[h * H + w];  // BUG: out_of_bounds
#else
    float pixel = x[h * W + w];
#endif
    y[h * W + w] = 1.0f - pixel;
}
