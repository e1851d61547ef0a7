// WMMA with bfloat16: the range of float in 16 bits, so that large and tiny factors need no scaling.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

// One warp computes one BM x BN tile of C (M x N) = A (M x K) * B (K x N); B is given as its transpose (N x K).
template <int BM, int BN>
__device__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int M, int N, int K) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp / (N / BN) * BM;
    int column = warp % (N / BN) * BN;
    if (row >= M) return;

    wmma::fragment<wmma::accumulator, BM, BN, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += 16) {
        wmma::fragment<wmma::matrix_a, BM, BN, 16, __nv_bfloat16, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, BM, BN, 16, __nv_bfloat16, wmma::col_major> right;
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + column * K + k, K);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
}

extern "C" __global__ void multiply_16x16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                          int M, int N, int K) {
    multiply<16, 16>(a, b, c, M, N, K);
}

extern "C" __global__ void multiply_32x8(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                         int M, int N, int K) {
    multiply<32, 8>(a, b, c, M, N, K);
}

extern "C" __global__ void multiply_8x32(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                         int M, int N, int K) {
    multiply<8, 32>(a, b, c, M, N, K);
}
