// The row above row 0 in unsigned arithmetic: 0 - 1 is 4294967295, widened to 64 bits without a sign, far behind x.
extern "C" __global__ void bounds_unsigned_row(float* y, const float* x, unsigned W) {
    unsigned w = threadIdx.x, h = blockIdx.x;
    if (w >= W) return;
#ifdef BUG
    const float* above = x + (size_t)(h - 1) * W;
    float pixel = above[w];  // BUG: out_of_bounds
#else
    float pixel = h > 0 ? x[(size_t)(h - 1) * W + w] : 0.0f;
#endif
    y[h * W + w] = x[h * W + w] - pixel;
}
