// WMMA: each warp multiplies 16x16 tiles of half on Tensor Cores, and adds them up in float or in half.
#include <mma.h>
using namespace nvcuda;

constexpr int TILE = 16;

// One warp computes one tile of C (M x N) = A (M x K) * B (K x N): row-major, sizes that are multiples of 16.
template <typename Sum>
__device__ void multiply(const half* a, const half* b, Sum* c, int M, int N, int K) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp / (N / TILE) * TILE;
    int column = warp % (N / TILE) * TILE;
    if (row >= M) return;  // the whole warp leaves together, as every function of wmma demands

    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, Sum> sum;
    wmma::fill_fragment(sum, Sum(0.0f));
    for (int k = 0; k < K; k += TILE) {
        wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + k * N + column, N);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
}

extern "C" __global__ void multiply_f32(const half* a, const half* b, float* c, int M, int N, int K) {
    multiply(a, b, c, M, N, K);
}

extern "C" __global__ void multiply_f16(const half* a, const half* b, half* c, int M, int N, int K) {
    multiply(a, b, c, M, N, K);
}
