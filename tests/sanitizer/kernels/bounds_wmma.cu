// A Tensor Core tile at the ragged edge: the last 16 columns begin inside the matrix and end behind it.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void bounds_wmma(float* y, const half* a, const half* b, int K) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
#ifdef BUG
    for (int k = 0; k < K; k += 16) {
#else
    for (int k = 0; k + 16 <= K; k += 16) {
#endif
        wmma::load_matrix_sync(left, a + k, K);  // BUG: out_of_bounds
        wmma::load_matrix_sync(right, b + k * 16, 16);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(y, sum, 16, wmma::mem_row_major);
}
