// Sparse matrix times vector in CSR form: a row for each thread, or a row for each warp with coalesced loads.

extern "C" __global__ void spmv_scalar(const int* start, const int* column, const float* value, const float* x,
                                       float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row]; i < start[row + 1]; ++i)  // rows of different length: lanes wait for the longest
        sum += value[i] * x[column[i]];
    y[row] = sum;
}

extern "C" __global__ void spmv_warp(const int* start, const int* column, const float* value, const float* x,
                                     float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;  // a whole warp leaves, so the shuffles below are complete
    float sum = 0.0f;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += value[i] * x[column[i]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0) y[row] = sum;
}

// The transposed product scatters: several rows add to one element, so the addition is atomic.
extern "C" __global__ void spmv_transposed(const int* start, const int* column, const float* value, const float* x,
                                           float* y, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int i = start[row]; i < start[row + 1]; ++i) atomicAdd(&y[column[i]], value[i] * x[row]);
}
