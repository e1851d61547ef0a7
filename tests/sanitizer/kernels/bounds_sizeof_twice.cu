// Pointer arithmetic counts elements already: times sizeof(float) it goes four times too far.
extern "C" __global__ void bounds_sizeof_twice(float* y, const float* x, int W) {
    int w = threadIdx.x, h = blockIdx.x;
    if (w >= W) return;
#ifdef BUG
    const float* row = x + h * W * sizeof(float);
#else
    const float* row = x + h * W;
#endif
    float pixel = row[w];  // BUG: out_of_bounds
    y[h * W + w] = pixel * pixel;
}
