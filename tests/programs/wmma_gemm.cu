// WMMA for matrices of any size: tiles padded with zeros in shared memory, and alpha * A * B + beta * C at the end.
#include <mma.h>
using namespace nvcuda;

constexpr int TILE = 16;
constexpr int SIDE = 2 * TILE;  // a block of 2x2 warps computes 32x32 elements
constexpr int THREADS = 4 * 32;
constexpr int PITCH = SIDE + 16;  // rows start in different banks, yet at multiples of 32 bytes, as wmma demands

// D (M x N) = alpha * A (M x K) * B (K x N) + beta * C (M x N), all row-major.
extern "C" __global__ void __launch_bounds__(THREADS)
gemm(const half* a, const half* b, const float* c, float* d, int M, int N, int K, float alpha, float beta) {
    __shared__ __align__(32) half left[SIDE * PITCH];   // SIDE rows of A, TILE columns of each
    __shared__ __align__(32) half right[TILE * PITCH];  // TILE rows of B
    __shared__ __align__(32) float old[SIDE * PITCH];   // C, later D
    int top = blockIdx.y * SIDE, first = blockIdx.x * SIDE;
    int warp = threadIdx.x / 32;
    int row = warp / 2 * TILE, column = warp % 2 * TILE;  // of this warp's tile in the block's

    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum, addend;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += TILE) {
        for (int i = threadIdx.x; i < SIDE * TILE; i += THREADS) {
            int r = i / TILE, s = i % TILE;
            left[r * PITCH + s] = top + r < M && k + s < K ? a[(top + r) * K + k + s] : half(0.0f);
            r = i / SIDE, s = i % SIDE;
            right[r * PITCH + s] = k + r < K && first + s < N ? b[(k + r) * N + first + s] : half(0.0f);
        }
        __syncthreads();  // the tiles are complete before any warp loads from them
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> y;
        wmma::load_matrix_sync(x, left + row * PITCH, PITCH);
        wmma::load_matrix_sync(y, right + column, PITCH);
        wmma::mma_sync(sum, x, y, sum);
        __syncthreads();  // no warp still reads the tiles when the next ones arrive
    }

    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
        int r = i / SIDE, s = i % SIDE;
        old[r * PITCH + s] = top + r < M && first + s < N ? c[(top + r) * N + first + s] : 0.0f;
    }
    __syncthreads();
    wmma::load_matrix_sync(addend, old + row * PITCH + column, PITCH, wmma::mem_row_major);
    // Which element x[i] is stays unknown, but it is the same one in both accumulators.
    for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * addend.x[i];
    wmma::store_matrix_sync(old + row * PITCH + column, sum, PITCH, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += THREADS) {
        int r = i / SIDE, s = i % SIDE;
        if (top + r < M && first + s < N) d[(top + r) * N + first + s] = old[r * PITCH + s];
    }
}
