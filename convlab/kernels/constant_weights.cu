// constant_weights: naive, with the weights in constant memory.
//
// Idea             all lanes of a warp want the same weight at the same time. Constant memory is made for that: one
//                  word from its own small cache goes to all lanes, and the load units are left to the inputs.
// Parallelisation  that of naive: x over the pixels of one output plane, blockIdx.y over the filters of this launch,
//                  blockIdx.z over the images.
// Expected limit   the load units still: each input element is fetched for every window and filter that needs it.
// Prediction       half of naive's load requests, one for a multiply-add, and no sector of weights among them.
// Honest negatives 64 KB: 28 filters of 64 channels 3×3. A larger layer takes several launches, each after a copy of
//                  its filters. Lanes that want different words are served one after the other, so a warp must not
//                  hold several filters.
#include "common.cuh"

__constant__ float weights[16384];  // [filters of this launch][C / groups][R][S]: all there is, 65536 bytes

extern "C" __global__ void conv_constant_weights(const float* __restrict__ x,
                                                 const float* __restrict__ bias,  // null: no bias
                                                 float* __restrict__ y, Conv v, int k0) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= v.P * v.Q) return;  // the last block may be larger than what is left
    int p = pixel / v.Q, q = pixel % v.Q;
    int k = k0 + blockIdx.y, n = blockIdx.z;             // the launch's filters begin with k0

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
                         * weights[((blockIdx.y * channels + c) * v.R + r) * v.S + s];
            }
    y[((size_t)(n * v.K + k) * v.P + p) * v.Q + q] = sum;
}
