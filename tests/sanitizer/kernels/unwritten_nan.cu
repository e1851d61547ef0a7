// Too few blocks do the work: an output poisoned with NaN keeps its poison in the rows that no block took.
extern "C" __global__ void unwritten_nan(float* y, const float* x, int rows, int W) {
#ifdef BUG
    int row = blockIdx.x;  // BUG: unwritten
    if (threadIdx.x < W) y[row * W + threadIdx.x] = x[row * W + threadIdx.x] * 3.0f;
#else
    for (int row = blockIdx.x; row < rows; row += gridDim.x)
        if (threadIdx.x < W) y[row * W + threadIdx.x] = x[row * W + threadIdx.x] * 3.0f;
#endif
}
