// WMMA with 8-bit integers, signed and unsigned, exact in 32-bit sums: the arithmetic of quantised networks.
#include <mma.h>
using namespace nvcuda;

// One warp computes one BM x BN tile of C (M x N) = A (M x K) * B (K x N); B is given as its transpose (N x K).
template <int BM, int BN, typename Byte>
__device__ void multiply(const Byte* a, const Byte* b, int* c, int M, int N, int K) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp / (N / BN) * BM;
    int column = warp % (N / BN) * BN;
    if (row >= M) return;

    wmma::fragment<wmma::accumulator, BM, BN, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    for (int k = 0; k < K; k += 16) {
        wmma::fragment<wmma::matrix_a, BM, BN, 16, Byte, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, BM, BN, 16, Byte, wmma::col_major> right;
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + column * K + k, K);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
}

extern "C" __global__ void signed_16x16(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    multiply<16, 16>(a, b, c, M, N, K);
}

extern "C" __global__ void signed_32x8(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    multiply<32, 8>(a, b, c, M, N, K);
}

extern "C" __global__ void unsigned_16x16(const unsigned char* a, const unsigned char* b, int* c,
                                          int M, int N, int K) {
    multiply<16, 16>(a, b, c, M, N, K);
}

extern "C" __global__ void unsigned_8x32(const unsigned char* a, const unsigned char* b, int* c,
                                         int M, int N, int K) {
    multiply<8, 32>(a, b, c, M, N, K);
}
