// Matrix times vector in double precision: a row for each thread, or a row for each block.

constexpr int THREADS = 64;

extern "C" __global__ void matvec_rows(const double* A, const double* x, double* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0.0;
    for (int c = 0; c < cols; ++c) sum += A[row * cols + c] * x[c];
    y[row] = sum;
}

extern "C" __global__ void matvec_blocks(const double* A, const double* x, double* y, int cols) {
    __shared__ double of_warp[THREADS / 32];
    int t = threadIdx.x;
    double sum = 0.0;
    for (int c = t; c < cols; c += THREADS) sum += A[blockIdx.x * cols + c] * x[c];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);  // two shuffles of 32 bits
    if (t % 32 == 0) of_warp[t / 32] = sum;
    __syncthreads();
    if (t == 0) y[blockIdx.x] = of_warp[0] + of_warp[1];
}

// A block for 32 columns of a tall matrix: parts of the sums meet by atomic addition.
extern "C" __global__ void matvec_transposed(const double* A, const double* x, double* y, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    double sum = 0.0;
    for (int row = blockIdx.y; row < rows; row += gridDim.y) sum += A[row * cols + col] * x[row];
    atomicAdd(&y[col], sum);
}

extern "C" __global__ void normalise(double* x, const double* norm2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] / sqrt(*norm2);
}
