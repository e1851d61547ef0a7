// gemm_tiled: a block computes a square tile of Y = A · B from square tiles of A and B in shared memory.
//
// Idea             what a block needs of A and B it loads once, one element a thread; 32 threads then read each of
//                  them from shared memory.
// Parallelisation  as in gemm_naive, with blocks as large as the tile; the block walks along k tile by tile.
// Expected limit   shared memory: still two reads for one multiply-add, though from nearer by.
// Prediction       32 times fewer load requests than gemm_naive, and 20 times fewer sectors: 8 for 1024 multiply-adds
//                  of a warp, which were 160.
// Honest negatives two barriers a step, at which the whole block of 1024 threads waits for its slowest warp; a matrix
//                  of 16 rows leaves half the threads idle.

#ifndef TILE
#define TILE 32  // BM, BN and BK in one
#endif
static_assert(TILE * TILE <= 1024, "a block has one thread for each element of the tile, and at most 1024");

extern "C" __global__ void __launch_bounds__(TILE * TILE)
gemm_tiled(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    __shared__ float As[TILE][TILE];  // [m][k]: A's tile, in shared memory
    __shared__ float Bs[TILE][TILE];  // [k][n]
    int tx = threadIdx.x, ty = threadIdx.y;
    int m = blockIdx.y * TILE + ty, n = blockIdx.x * TILE + tx;

    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        As[ty][tx] = m < M && k0 + tx < K ? a[(size_t)m * K + k0 + tx] : 0.0f;  // past the edge: zero
        Bs[ty][tx] = k0 + ty < K && n < N ? b[(size_t)(k0 + ty) * N + n] : 0.0f;
        __syncthreads();  // or a fast warp reads elements that a slow one has not stored yet
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();  // or a fast warp overwrites this step's elements, which a slow one still reads
    }
    if (m < M && n < N) y[(size_t)m * N + n] = sum;
}
