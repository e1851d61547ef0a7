// Matrix transpose: scattered stores, then a tile in shared memory, then a column of padding against bank conflicts.

constexpr int TILE = 32;
constexpr int ROWS = 8;  // a block has 32 × 8 threads; each moves four elements

extern "C" __global__ void transpose_naive(const float* in, float* out, int height, int width) {
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        int row = blockIdx.y * TILE + r;
        if (row < height && col < width) out[col * height + row] = in[row * width + col];
    }
}

template <int PITCH>
__device__ void transpose_tile(const float* in, float* out, int height, int width) {
    __shared__ float tile[TILE][PITCH];
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        int row = blockIdx.y * TILE + r;
        if (row < height && col < width) tile[r][threadIdx.x] = in[row * width + col];
    }
    __syncthreads();  // the tile is complete: other threads' elements are read now
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int r = threadIdx.y; r < TILE; r += ROWS) {
        int out_row = blockIdx.x * TILE + r;
        if (out_row < width && out_col < height) out[out_row * height + out_col] = tile[threadIdx.x][r];
    }
}

extern "C" __global__ void transpose_shared(const float* in, float* out, int height, int width) {
    transpose_tile<TILE>(in, out, height, width);  // a column lies in one bank
}

extern "C" __global__ void transpose_padded(const float* in, float* out, int height, int width) {
    transpose_tile<TILE + 1>(in, out, height, width);  // a column runs over all banks
}
