// The pipeline of cuda_pipeline.h: asynchronous copies into padded rows, two stages deep, without inline asm.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

constexpr int SIDE = 32, BK = 16, THREADS = 128;  // 2x2 warps, each with 16x16 of C
constexpr int PITCH_A = BK + 16, PITCH_B = SIDE + 16;  // rows change banks, and stay at multiples of 32 bytes

// Start to copy a tile of a row-major matrix in pieces of 16 bytes, into rows that are pitch apart.
__device__ void start(half* tile, int pitch, int rows, int columns, const half* from, int stride) {
    int pieces = columns / 8;
    for (int i = threadIdx.x; i < rows * pieces; i += THREADS)
        __pipeline_memcpy_async(&tile[i / pieces * pitch + i % pieces * 8],
                                &from[i / pieces * stride + i % pieces * 8], 16);
}

// C (M x N) = A (M x K) * B (K x N), row-major; M and N are multiples of 32, K of 16.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply(const half* a, const half* b, float* c, int M, int N, int K) {
    __shared__ __align__(32) half left[2][SIDE * PITCH_A], right[2][BK * PITCH_B];
    int warp = threadIdx.x / 32, row = warp / 2 * 16, column = warp % 2 * 16;
    const half* rows = a + blockIdx.y * SIDE * K;
    const half* columns = b + blockIdx.x * SIDE;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    start(left[0], PITCH_A, SIDE, BK, rows, K);
    start(right[0], PITCH_B, BK, SIDE, columns, N);
    __pipeline_commit();
    for (int k = 0; k < K; k += BK) {
        int now = k / BK % 2, next = 1 - now;
        if (k + BK < K) {
            start(left[next], PITCH_A, SIDE, BK, rows + k + BK, K);
            start(right[next], PITCH_B, BK, SIDE, columns + (k + BK) * N, N);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);  // everything but the newest batch has arrived
        __syncthreads();           // for all threads of the block
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
        wmma::load_matrix_sync(x, left[now] + row * PITCH_A, PITCH_A);
        wmma::load_matrix_sync(y, right[now] + column, PITCH_B);
        wmma::mma_sync(sum, x, y, sum);
        __syncthreads();  // nobody reads this stage any more when it is filled again
    }
    wmma::store_matrix_sync(c + (blockIdx.y * SIDE + row) * N + blockIdx.x * SIDE + column, sum, N,
                            wmma::mem_row_major);
}
