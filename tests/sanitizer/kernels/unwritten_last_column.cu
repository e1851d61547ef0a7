// The last column is left out: the output keeps there what was in memory before.
extern "C" __global__ void unwritten_last_column(float* y, const float* x, int W) {
    int w = threadIdx.x, h = blockIdx.x;
#ifdef BUG
    if (w < W - 1) y[h * W + w] = 0.5f * x[h * W + w];  // BUG: unwritten
#else
    if (w < W) y[h * W + w] = 0.5f * x[h * W + w];
#endif
}
