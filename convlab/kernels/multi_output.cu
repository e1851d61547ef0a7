// multi_output: one thread computes TM filters of TN pixels, and keeps the sums in registers.
//
// Idea             tiled reads a pixel from shared memory for every multiply-add. Here a thread reads TN pixels and TM
//                  weights of one tap, and multiplies each with each: TM·TN multiply-adds for TM + TN values.
// Parallelisation  a block for BK filters of BP × BQ pixels. A thread has TN pixels of one column, BP / TN rows apart,
//                  so that a warp still reads neighbouring pixels; all its lanes have the same filters. blockIdx.y
//                  runs over the groups and each group's slices of BK filters, blockIdx.z over the images.
// Expected limit   the multiply-add units, in a large layer; registers set how many warps hide the latency.
// Prediction       a quarter of tiled's shared bytes per multiply-add, (8 + 8) / 64 of a word against one, in 6.4 times
//                  fewer loads (weights come four at a time); and 16 times fewer input elements, as BK filters share
//                  a tile. No bank conflicts at stride 1.
// Honest negatives some 125 registers a thread, so 16 warps an SM; fewer blocks, so a small layer leaves SMs idle;
//                  groups of fewer than BK filters compute zeros, 15 of 16 for depthwise. The lanes that load
//                  weights read a sector each, as neighbouring filters lie far apart.
#include "common.cuh"

#ifndef BK
#define BK 16
#endif
#ifndef BP
#define BP 16
#endif
#ifndef BQ
#define BQ 16
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#define APART (BP / TN)  // rows between the pixels of a thread
#define THREADS (BQ * APART * (BK / TM))
static_assert(TM % 4 == 0, "a thread reads its weights four at a time");
static_assert(BK % TM == 0 && BP % TN == 0, "the threads' outputs must fill the block's");
static_assert(BQ * APART % 32 == 0, "the lanes of a warp must share their filters, so that one read serves all");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");

extern "C" __global__ void __launch_bounds__(THREADS)
conv_multi_output(const float* __restrict__ x, const float* __restrict__ w,
                  const float* __restrict__ bias,  // null: no bias
                  float* __restrict__ y, Conv v, int pitch) {
    extern __shared__ __align__(16) float weights[];                    // [R·S][BK]
    float* tile = weights + v.R * v.S * BK;                             // [rows][pitch]
    int rows = (BP - 1) * v.stride_h + (v.R - 1) * v.dilation_h + 1;
    int cols = (BQ - 1) * v.stride_w + (v.S - 1) * v.dilation_w + 1;
    int across = (v.Q + BQ - 1) / BQ;                                   // tiles
    int p0 = blockIdx.x / across * BP, q0 = blockIdx.x % across * BQ;
    int top = p0 * v.stride_h - v.pad_top, left = q0 * v.stride_w - v.pad_left;
    int thread = (threadIdx.z * APART + threadIdx.y) * BQ + threadIdx.x;

    int channels = v.C / v.groups, filters = v.K / v.groups;            // of a group
    int slices = (filters + BK - 1) / BK;
    int group = blockIdx.y / slices, slice = blockIdx.y % slices * BK;
    int k0 = group * filters + slice, held = min(BK, filters - slice);  // the block's filters: k0 .. k0 + held - 1
    int m0 = threadIdx.z * TM, n = blockIdx.z;                          // of those, mine begin with m0

    float sum[TM][TN];
    for (int m = 0; m < TM; ++m)
        for (int t = 0; t < TN; ++t) sum[m][t] = bias && m0 + m < held ? bias[k0 + m0 + m] : 0.0f;
    for (int c = 0; c < channels; ++c) {
        const float* plane = x + (size_t)(n * v.C + group * channels + c) * v.H * v.W;  // [H][W]
        __syncthreads();  // or a fast warp overwrites the previous channel, which a slow one still reads
        for (int row = thread / 32; row < rows; row += THREADS / 32)
            for (int col = thread % 32; col < cols; col += 32) {
                int h = top + row, at = left + col;
                bool inside = h >= 0 && h < v.H && at >= 0 && at < v.W;                 // outside lies padding: zero
                tile[row * pitch + col] = inside ? plane[(size_t)h * v.W + at] : 0.0f;
            }
        for (int i = thread; i < v.R * v.S * BK; i += THREADS) {
            int m = i % BK, tap = i / BK;
            weights[i] = m < held ? w[((size_t)(k0 + m) * channels + c) * v.R * v.S + tap] : 0.0f;
        }
        __syncthreads();  // or a fast warp reads pixels and weights that a slow one has not stored yet
        for (int r = 0; r < v.R; ++r)
            for (int s = 0; s < v.S; ++s) {
                const float* corner = tile + (threadIdx.y * v.stride_h + r * v.dilation_h) * pitch
                                    + threadIdx.x * v.stride_w + s * v.dilation_w;
                float pixel[TN], weight[TM];
                for (int t = 0; t < TN; ++t) pixel[t] = corner[t * APART * v.stride_h * pitch];
                for (int m = 0; m < TM; ++m) weight[m] = weights[(r * v.S + s) * BK + m0 + m];
                for (int m = 0; m < TM; ++m)
                    for (int t = 0; t < TN; ++t) sum[m][t] += weight[m] * pixel[t];
            }
    }
    for (int m = 0; m < TM; ++m)
        for (int t = 0; t < TN; ++t) {
            int p = p0 + threadIdx.y + t * APART, q = q0 + threadIdx.x;
            if (m0 + m < held && p < v.P && q < v.Q)  // what lies beyond was computed with the rest
                y[((size_t)(n * v.K + k0 + m0 + m) * v.P + p) * v.Q + q] = sum[m][t];
        }
}
