// The fault lies in a macro: the line is the one that uses it.
#define AT(h, w) x[(h) * W + (w)]

extern "C" __global__ void frames_macro(float* y, const float* x, int H, int W) {
    int w = threadIdx.x, h = blockIdx.x;
    if (w >= W) return;
#ifdef BUG
    float below = AT(h + 1, w);  // BUG: out_of_bounds
#else
    float below = h + 1 < H ? AT(h + 1, w) : 0.0f;
#endif
    y[h * W + w] = below - AT(h, w);
}
