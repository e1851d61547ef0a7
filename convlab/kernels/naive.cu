// naive: one thread computes one output element.
//
// Idea             the definition of convolution as three loops (c, r, s); threads share nothing.
// Parallelisation  x over the pixels of one output plane, so that neighbouring lanes compute neighbouring q;
//                  blockIdx.y is the filter k, blockIdx.z the image n.
// Expected limit   the load units: two loads for one multiply-add, and each input element is fetched again for
//                  every window and every filter that needs it. Where the compiler does not know R and S, the issue
//                  slots: 25 instructions for each multiply-add, instead of 7.
// Prediction       a filter of 3×3 loads the input nine times over, and each filter does so again: the number to beat.
// Honest negatives no tile, no reuse by hand; a branch for each tap, though only the border needs it.
#include "common.cuh"

extern "C" __global__ void conv_naive(const float* __restrict__ x, const float* __restrict__ w,
                                      const float* __restrict__ bias,  // null: no bias
                                      float* __restrict__ y, Conv v) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= v.P * v.Q) return;  // the last block may be larger than what is left
    int p = pixel / v.Q, q = pixel % v.Q;
    int k = blockIdx.y, n = blockIdx.z;

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
