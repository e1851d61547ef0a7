// Conway's Game of Life on a torus: bytes as cells, and indices that wrap around at all four edges.

constexpr int TX = 16, TY = 8;

__device__ unsigned char next_state(unsigned char alive, int neighbours) {
    return neighbours == 3 || (alive && neighbours == 2);
}

extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            if (dx == 0 && dy == 0) continue;
            int row = (y + dy + height) % height, col = (x + dx + width) % width;
            count += in[row * width + col];
        }
    out[y * width + x] = next_state(in[y * width + x], count);
}

extern "C" __global__ void life_shared(const unsigned char* in, unsigned char* out, int height, int width) {
    __shared__ unsigned char cell[TY + 2][TX + 2];
    int x0 = blockIdx.x * TX, y0 = blockIdx.y * TY;
    for (int i = threadIdx.y * TX + threadIdx.x; i < (TY + 2) * (TX + 2); i += TX * TY) {
        int row = (y0 + i / (TX + 2) - 1 + height) % height, col = (x0 + i % (TX + 2) - 1 + width) % width;
        cell[i / (TX + 2)][i % (TX + 2)] = in[row * width + col];
    }
    __syncthreads();
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= width || y >= height) return;
    int count = -cell[threadIdx.y + 1][threadIdx.x + 1];
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) count += cell[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = next_state(cell[threadIdx.y + 1][threadIdx.x + 1], count);
}
