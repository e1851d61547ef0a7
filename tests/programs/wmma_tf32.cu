// WMMA with TF32: float matrices on Tensor Cores, each factor rounded to ten bits behind the point.
#include <mma.h>
using namespace nvcuda;

constexpr int TILE = 16, DEPTH = 8;  // m16n16k8 is the one shape for TF32

// Rounding is up to the program: the Tensor Core ignores the low bits of what it gets.
template <typename Fragment>
__device__ void round_to_tf32(Fragment& fragment) {
    for (int i = 0; i < fragment.num_elements; ++i) fragment.x[i] = wmma::__float_to_tf32(fragment.x[i]);
}

// One warp computes one tile of C (M x N) = A (M x K) * B (K x N), row-major; M and N: multiples of 16, K: of 8.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int M, int N, int K) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    int row = warp / (N / TILE) * TILE;
    int column = warp % (N / TILE) * TILE;
    if (row >= M) return;

    wmma::fragment<wmma::accumulator, TILE, TILE, DEPTH, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < K; k += DEPTH) {
        wmma::fragment<wmma::matrix_a, TILE, TILE, DEPTH, wmma::precision::tf32, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, TILE, TILE, DEPTH, wmma::precision::tf32, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * K + k, K);
        wmma::load_matrix_sync(right, b + k * N + column, N);
        round_to_tf32(left);
        round_to_tf32(right);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * N + column, sum, N, wmma::mem_row_major);
}
