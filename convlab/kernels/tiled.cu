// tiled: a block's 16×16 outputs share the pixels that their windows need.
//
// Idea             neighbouring windows overlap. Per channel, the block loads each pixel once into shared memory: those
//                  under its outputs and the halo around them, zeros where padding is, and the filter beside them;
//                  then every thread convolves from there, without a test for the border.
// Parallelisation  a block for BP × BQ outputs of one filter, a thread for each; blockIdx.y is the filter k,
//                  blockIdx.z the image n. A warp loads a row of the tile at a time, so that no row is cut in two.
// Expected limit   the load and store units: a read of shared memory for each multiply-add, and one for four weights,
//                  besides the loads and stores that fill the tile. Issue slots come second: 6 instructions a tap
//                  where the compiler knows the filter's size and the steps, 25 where it does not.
// Prediction       loads 7.1 times fewer input elements than naive on 3×3: 18·18, not 9·16·16; and 4.5 times
//                  fewer input sectors: 4 for the 18 pixels of a row, 3 at the image's edge, where each of naive's 8
//                  warps touches 14 for three taps side by side. No bank conflicts at stride 1.
// Honest negatives the halo costs 27 % more than the outputs' own pixels, and each filter's block loads it all again;
//                  everybody waits twice per channel. Even strides along both axes leave two lanes or more to a bank.
#include "common.cuh"

#ifndef BP
#define BP 16
#endif
#ifndef BQ
#define BQ 16
#endif
#define THREADS (BP * BQ)
static_assert(THREADS % 32 == 0 && THREADS <= 512, "whole warps load rows, and an SM has registers for 512 threads");

// The host chooses the pitch, at least the tile's columns: a warp reads two rows of 16 pixels, and rows of 18 words
// would put the last of one row and the first of the next into the same banks; rows of 48 keep them 16 banks apart.
extern "C" __global__ void conv_tiled(const float* __restrict__ x, const float* __restrict__ w,
                                      const float* __restrict__ bias,  // null: no bias
                                      float* __restrict__ y, Conv v, int pitch) {
    extern __shared__ __align__(16) float filter[];                     // [R][S]
    float* tile = filter + v.R * v.S;                                   // [rows][pitch]
    int rows = (BP - 1) * v.stride_h + (v.R - 1) * v.dilation_h + 1;    // 18 for 3×3
    int cols = (BQ - 1) * v.stride_w + (v.S - 1) * v.dilation_w + 1;
    int across = (v.Q + BQ - 1) / BQ;                                   // tiles
    int p0 = blockIdx.x / across * BP, q0 = blockIdx.x % across * BQ;
    int top = p0 * v.stride_h - v.pad_top, left = q0 * v.stride_w - v.pad_left;
    int thread = threadIdx.y * BQ + threadIdx.x;
    int k = blockIdx.y, n = blockIdx.z;

    int channels = v.C / v.groups;                       // that one filter sees
    int first = k / (v.K / v.groups) * channels;         // the first of them
    const float* corner = tile + threadIdx.y * v.stride_h * pitch + threadIdx.x * v.stride_w;  // of my window
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
                int row = i + thread / 32, col = j + thread % 32, h = top + row, at = left + col;
                bool needed = row < rows && col < cols;
                bool inside = needed && h >= 0 && h < v.H && at >= 0 && at < v.W;
                float pixel = inside ? plane[h * v.W + at] : 0.0f;  // outside lies padding: zero
                if (needed) tile[row * pitch + col] = pixel;
            }
        __syncthreads();  // or a fast warp reads what a slow one has not stored yet
        for (int r = 0; r < v.R; ++r)
            for (int s = 0; s < v.S; ++s)
                sum += corner[r * v.dilation_h * pitch + s * v.dilation_w] * filter[r * v.S + s];
    }
    int p = p0 + threadIdx.y, q = q0 + threadIdx.x;
    if (p < v.P && q < v.Q)  // a thread outside the output helped to load
        y[((size_t)(n * v.K + k) * v.P + p) * v.Q + q] = sum;
}
