// A convolution with padding that reads its padding: it lies before the start and after the end of the row.
extern "C" __global__ void bounds_negative_halo(float* y, const float* x, const float* w, int W, int S) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= W) return;
    float sum = 0.0f;
    for (int s = 0; s < S; ++s) {
        int column = q - S / 2 + s;
#ifdef BUG
        sum += x[column] * w[s];  // BUG: out_of_bounds
#else
        if (column >= 0 && column < W) sum += x[column] * w[s];
#endif
    }
    y[q] = sum;
}
