// `<=` in place of `<`: each row adds the first element of the next one, and the last row reads past the end.
extern "C" __global__ void bounds_loop_off_by_one(float* y, const float* x, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
#ifdef BUG
    for (int column = 0; column <= columns; ++column)
        sum += x[row * columns + column];  // BUG: out_of_bounds
#else
    for (int column = 0; column < columns; ++column)
        sum += x[row * columns + column];
#endif
    y[row] = sum;
}
