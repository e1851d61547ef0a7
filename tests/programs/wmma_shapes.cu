// WMMA tiles that are not square, 32x8 and 8x32, and a result that is stored column-major.
#include <mma.h>
using namespace nvcuda;

// One warp computes one BM x BN tile of C (M x N) = A (M x K) * B (K x N); M, N, K are multiples of BM, BN, 16.
// A is row-major, B is given as its transpose (N x K), C is stored column-major.
template <int BM, int BN>
__device__ void multiply(const half* a, const half* b, float* c, int M, int N, int K) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp % (M / BM) * BM;
    int column = warp / (M / BM) * BN;
    if (column >= N) return;

    wmma::fragment<wmma::accumulator, BM, BN, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::fragment<wmma::matrix_a, BM, BN, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, BM, BN, 16, half, wmma::col_major> right;
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + column * K + k, K);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + column * M + row, sum, M, wmma::mem_col_major);
}

extern "C" __global__ void multiply_32x8(const half* a, const half* b, float* c, int M, int N, int K) {
    multiply<32, 8>(a, b, c, M, N, K);
}

extern "C" __global__ void multiply_8x32(const half* a, const half* b, float* c, int M, int N, int K) {
    multiply<8, 32>(a, b, c, M, N, K);
}
