// naive_2d: naive, with blocks that are rectangles of the output; any size of block will do.
//
// Idea             the sum of naive; only the way from a thread's number to its output is another.
// Parallelisation  x over the columns q, y over the rows p, z over the filters of all images.
// Expected limit   the load units, as naive's.
// Prediction       blocks of 16×16 read the input of 18×18 pixels, nine times over, where 256 pixels of naive lie in
//                  rows: the cache has less to hold. Lanes of a warp cover two rows, so that a load takes more sectors.
// Honest negatives rows that are no multiple of the block's width leave threads idle, at the right edge and at the lower.
#include "common.cuh"

extern "C" __global__ void conv_naive_2d(const float* __restrict__ x, const float* __restrict__ w,
                                         const float* __restrict__ bias,  // null: no bias
                                         float* __restrict__ y, Conv v) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    int p = blockIdx.y * blockDim.y + threadIdx.y;
    if (q >= v.Q || p >= v.P) return;  // blocks at the edges may be larger than what is left
    int k = blockIdx.z % v.K, n = blockIdx.z / v.K;

    int channels = v.C / v.groups;                       // that one filter sees
    int first = k / (v.K / v.groups) * channels;         // the first of them
    float sum = bias ? bias[k] : 0.0f;
    for (int c = 0; c < channels; ++c)
        for (int r = 0; r < v.R; ++r)
            for (int s = 0; s < v.S; ++s) {
                int h = p * v.stride_h - v.pad_top + r * v.dilation_h;
                int col = q * v.stride_w - v.pad_left + s * v.dilation_w;
                if (h >= 0 && h < v.H && col >= 0 && col < v.W)      // outside lies padding: zero
                    sum += x[((size_t)(n * v.C + first + c) * v.H + h) * v.W + col]
                         * w[((size_t)(k * channels + c) * v.R + r) * v.S + s];
            }
    y[((size_t)(n * v.K + k) * v.P + p) * v.Q + q] = sum;
}
