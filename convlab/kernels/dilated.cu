// dilated: tiled, with the rows dealt out so that a tile has no rows that nobody needs.
//
// Idea             a filter with dilation d reads every d-th row, and output rows that lie d apart read the same ones.
//                  A block that computes such rows loads those rows of the input alone: its halo of rows is that of
//                  an undilated filter. Nine taps stay nine taps; no zeros are multiplied.
// Parallelisation  a block for BP × BQ outputs of one filter: BP rows, `apart` rows from one to the next, by BQ
//                  neighbouring columns. blockIdx.x runs over columns of tiles, then over which of the `apart`
//                  classes of rows, then down the image; blockIdx.y is the filter, blockIdx.z the image.
// Expected limit   that of tiled.
// Prediction       1.1 times fewer input elements and sectors than tiled on 3×3 with dilation 2: 18 rows of a tile
//                  against 20. The gain grows with the dilation, 18 against 16 + 2d. No bank conflicts at stride 1.
// Honest negatives columns are not dealt out. With dilation 2 a row of the tile would have 18 pixels instead of 20, but
//                  from 6 sectors instead of 4, as what is skipped lies in the same sectors. An output of fewer than
//                  BP·d rows leaves threads idle. Dilation 1 gains nothing: this is tiled then.
#include "common.cuh"

#ifndef BP
#define BP 16
#endif
#ifndef BQ
#define BQ 16
#endif
#define THREADS (BP * BQ)
static_assert(THREADS % 32 == 0 && THREADS <= 512, "whole warps load rows, and an SM has registers for 512 threads");

// With g the greatest common divisor of stride and dilation, apart = dilation / g output rows lie stride / g = `step`
// steps of one dilation apart in the input: tile row i·step + r holds tap r of the block's i-th output row.
extern "C" __global__ void conv_dilated(const float* __restrict__ x, const float* __restrict__ w,
                                        const float* __restrict__ bias,  // null: no bias
                                        float* __restrict__ y, Conv v, int apart, int step, int pitch) {
    extern __shared__ __align__(16) float filter[];                     // [R][S]
    float* tile = filter + v.R * v.S;                                   // [rows][pitch]
    int rows = (BP - 1) * step + v.R;                                   // 18 for 3×3, whatever the dilation
    int cols = (BQ - 1) * v.stride_w + (v.S - 1) * v.dilation_w + 1;
    int across = (v.Q + BQ - 1) / BQ;                                   // tiles
    int band = blockIdx.x / across;
    int p0 = band / apart * apart * BP + band % apart, q0 = blockIdx.x % across * BQ;
    int top = p0 * v.stride_h - v.pad_top, left = q0 * v.stride_w - v.pad_left;
    int thread = threadIdx.y * BQ + threadIdx.x;
    int k = blockIdx.y, n = blockIdx.z;

    int channels = v.C / v.groups;                       // that one filter sees
    int first = k / (v.K / v.groups) * channels;         // the first of them
    const float* corner = tile + threadIdx.y * step * pitch + threadIdx.x * v.stride_w;  // of my window
    float sum = bias ? bias[k] : 0.0f;
    const float* plane = x + (size_t)(n * v.C + first) * v.H * v.W;  // [H][W] of a channel
    const float* taps = w + (size_t)k * channels * v.R * v.S;        // [R][S] of a channel
    for (int c = 0; c < channels; ++c, plane += v.H * v.W, taps += v.R * v.S) {
        __syncthreads();  // or a fast warp overwrites the previous channel, which a slow one still reads
        for (int i = 0; i < v.R * v.S; i += THREADS) {  // all threads from 0: the compiler can know how often
            int tap = i + thread;
            if (tap < v.R * v.S) filter[tap] = taps[tap];
        }
        for (int j = 0; j < cols; j += 32)
            for (int i = 0; i < rows; i += THREADS / 32) {
                int row = i + thread / 32, col = j + thread % 32, h = top + row * v.dilation_h, at = left + col;
                bool needed = row < rows && col < cols;
                bool inside = needed && h >= 0 && h < v.H && at >= 0 && at < v.W;
                float pixel = inside ? plane[h * v.W + at] : 0.0f;  // outside lies padding: zero
                if (needed) tile[row * pitch + col] = pixel;
            }
        __syncthreads();  // or a fast warp reads what a slow one has not stored yet
        for (int r = 0; r < v.R; ++r)
            for (int s = 0; s < v.S; ++s) sum += corner[r * pitch + s * v.dilation_w] * filter[r * v.S + s];
    }
    int p = p0 + threadIdx.y * apart, q = q0 + threadIdx.x;
    if (p < v.P && q < v.Q)  // a thread outside the output helped to load
        y[((size_t)(n * v.K + k) * v.P + p) * v.Q + q] = sum;
}
