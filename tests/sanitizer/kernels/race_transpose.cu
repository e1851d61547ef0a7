// A transposed tile without a barrier: rows are written by one warp and read, as columns, by all of them.
extern "C" __global__ void race_transpose(float* y, const float* x, int H, int W) {
    __shared__ float tile[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, w = blockIdx.x * 16 + tx, h = blockIdx.y * 16 + ty;
    tile[ty][tx] = h < H && w < W ? x[h * W + w] : 0.0f;  // OTHER
#ifndef BUG
    __syncthreads();  // the whole tile is written
#endif
    float turned = tile[tx][ty];  // BUG: race
    int column = blockIdx.y * 16 + tx, row = blockIdx.x * 16 + ty;
    if (row < W && column < H) y[row * H + column] = turned;
}
