// tensor_core: warps multiply 16×16 matrices on Tensor Cores, by the wmma API.
//
// Idea             implicit GEMM in half precision, summed in float: 16 filters, times 16 elements of the window (c, r,
//                  s flattened, the last few filled up with zeros), times 16 pixels are one instruction of a warp.
// Parallelisation  blockIdx.x is a tile of 64 pixels of all images, 16 for each of four warps; blockIdx.y is a tile of
//                  16 filters, blockIdx.z the group.
// Expected limit   the gathering: a thread still fetches two bytes at a time, with the index arithmetic of naive, and
//                  nothing overlaps with the Tensor Cores.
// Prediction       2.2 times fewer instructions per multiply-add than naive, since each input element that a thread
//                  fetches serves 16 filters. With 3 channels and 3×3 filters, 27 of 32 multipliers along k are useful;
//                  one step for each tap would use 3 of 16.
// Honest negatives less than 16 filters of a group leave rows of the fragments empty: depthwise, 15 of 16. 64 filters
//                  fetch the input four times. Fragments are read from shared memory for a single product.
#include <mma.h>

#include "window.cuh"
using namespace nvcuda;

constexpr int TILE = 16;  // the side of a fragment
#ifndef BM
#define BM 16  // filters of a block
#endif
constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int BN = TILE * WARPS;  // pixels of a block
constexpr int BK = TILE;          // elements of the window in one step
constexpr int ROWS = BK / (THREADS / BN);  // of them, for one thread
static_assert(BM % TILE == 0, "fragments have 16 rows");
static_assert(THREADS % BN == 0, "a thread gathers for one pixel");

// Rows longer than their tiles, so that those which a fragment reads or stores at a time lie in different banks: eight
// rows of 16 bytes of half, four of 32 bytes of float.
constexpr int PITCH_W = BK + 8, PITCH_X = BN + 8, PITCH_Y = BN + 8;

// The filters' tile: neighbouring lanes read neighbouring elements; zeros where there is no filter or no element.
__device__ void load_filters(half (*tile)[PITCH_W], const half* w, int rows, int k, int gemm_k) {
    for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
        int row = i / BK, column = i % BK;
        bool inside = row < rows && k + column < gemm_k;
        tile[row][column] = inside ? w[(size_t)row * gemm_k + k + column] : half(0.0f);
    }
}

// One thread's column of the input's tile: some elements of one window, counted on without dividing again.
__device__ void load_window(half (*tile)[PITCH_X], Window<half> window, int k, int channels, const Conv& v) {
    int first = threadIdx.x / BN * ROWS, column = threadIdx.x % BN;
    int s = (k + first) % v.S, r = (k + first) / v.S % v.R, c = (k + first) / (v.R * v.S);
    for (int row = first; row < first + ROWS; ++row) {
        int h = window.top + r * v.dilation_h, col = window.left + s * v.dilation_w;
        bool inside = c < channels && h >= 0 && h < v.H && col >= 0 && col < v.W;
        tile[row][column] = inside ? window.image[((size_t)c * v.H + h) * v.W + col] : half(0.0f);
        if (++s < v.S) continue;
        s = 0;
        if (++r < v.R) continue;
        r = 0;
        ++c;
    }
}

// Eight blocks on an SM leave each thread 64 registers, and none spills.
extern "C" __global__ void __launch_bounds__(THREADS, 8)
conv_wmma(const half* __restrict__ x, const half* __restrict__ w,
          const float* __restrict__ bias,  // null: no bias
          float* __restrict__ y, Conv v) {
    __shared__ __align__(32) half weights[BM][PITCH_W];  // BM × BK
    __shared__ __align__(32) half windows[BK][PITCH_X];  // BK × BN
    __shared__ __align__(32) float sums[BM][PITCH_Y];    // BM × BN

    int channels = v.C / v.groups, filters = v.K / v.groups, gemm_k = channels * v.R * v.S;
    int left = blockIdx.x * BN, top = blockIdx.y * BM;   // the tile's first pixel, and its first filter of the group
    int first = blockIdx.z * filters + top;              // that filter among all
    Window<half> window =
        window_of(left + threadIdx.x % BN, x + (size_t)blockIdx.z * channels * v.H * v.W, v);
    int column = threadIdx.x / 32 * TILE;                // the warp's part of the tile

    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum[BM / TILE];
    for (auto& each : sum) wmma::fill_fragment(each, 0.0f);
    for (int k = 0; k < gemm_k; k += BK) {
        load_filters(weights, w + (size_t)first * gemm_k, filters - top, k, gemm_k);
        load_window(windows, window, k, channels, v);
        __syncthreads();  // or a fast warp reads elements that a slow one has not stored yet
        wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, half, wmma::row_major> b;
        wmma::load_matrix_sync(b, &windows[0][column], PITCH_X);
        for (int i = 0; i < BM / TILE; ++i) {
            wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, half, wmma::row_major> a;
            wmma::load_matrix_sync(a, &weights[i * TILE][0], PITCH_W);
            wmma::mma_sync(sum[i], a, b, sum[i]);
        }
        __syncthreads();  // or a fast warp overwrites this step's elements, which a slow one still reads
    }

    // Which lane holds which element of a fragment is not specified: through shared memory they get known places.
    for (int i = 0; i < BM / TILE; ++i)
        wmma::store_matrix_sync(&sums[i * TILE][column], sum[i], PITCH_Y, wmma::mem_row_major);
    __syncthreads();  // or a fast warp reads sums that a slow one has not stored yet
    for (int i = threadIdx.x; i < BM * BN; i += THREADS) {
        int row = i / BN, pixel = left + i % BN, plane = v.P * v.Q;
        if (top + row >= filters || pixel >= v.N * plane) continue;
        int k = first + row;
        y[((size_t)(pixel / plane) * v.K + k) * plane + pixel % plane] =
            sums[row][i % BN] + (bias ? bias[k] : 0.0f);
    }
}
