// A warp loads its Tensor Core fragments from a tile of which the other warp wrote half, without a barrier between.
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void race_wmma(float* y, const half* x) {
    __shared__ __align__(32) half tile[256];
    int t = threadIdx.x, warp = t / 32;
    for (int i = t; i < 256; i += 64)
        tile[i] = x[i];  // OTHER
#ifndef BUG
    __syncthreads();  // the whole tile is written
#endif
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile, 16);   // BUG: race
    wmma::load_matrix_sync(right, tile, 16);  // BUG: race
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(y + 256 * warp, sum, 16, wmma::mem_row_major);
}
