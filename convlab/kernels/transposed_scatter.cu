// transposed_scatter: each input pixel adds its filters to the outputs under them.
//
// Idea             the definition read from the input: element h spreads over h·stride + r·dilation - pad, for
//                  every tap r. Neighbours overlap, so they must add atomically. It is W^T · x and col2im in one
//                  kernel, of which the column is never stored. w is [C][K / groups][R][S].
// Parallelisation  one thread an input pixel and a filter, which sums over the channels before it adds; x over the
//                  pixels of a plane, blockIdx.y is the filter, blockIdx.z the image.
// Expected limit   atomics of the L2: one for each tap of each thread, where transposed stores each output once.
// Prediction       as many multiply-adds as transposed: 4.17 times fewer than transposed_zero_insertion at stride 2.
//                  2.16 atomics for each output, (47 / 32) squared.
// Honest negatives the order in which float atomics add differs from run to run, and so does the last bit; y must be
//                  filled with the bias first; each tap reads the whole column of channels again.
#include "common.cuh"

extern "C" __global__ void fill_with_bias(const float* __restrict__ bias,  // null: no bias
                                          float* __restrict__ y, Conv v) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y, n = blockIdx.z;
    if (pixel >= v.P * v.Q) return;  // the last block may be larger than what is left
    y[(size_t)(n * v.K + k) * v.P * v.Q + pixel] = bias ? bias[k] : 0.0f;
}

extern "C" __global__ void conv_transposed_scatter(const float* __restrict__ x, const float* __restrict__ w,
                                                   float* __restrict__ y, Conv v) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= v.H * v.W) return;  // the last block may be larger than what is left
    int h = pixel / v.W, col = pixel % v.W, k = blockIdx.y, n = blockIdx.z;

    int filters = v.K / v.groups, channels = v.C / v.groups, first = k / filters * channels;
    size_t next_x = (size_t)v.H * v.W, next_w = (size_t)filters * v.R * v.S;  // from a channel to the next
    x += (n * v.C + first) * next_x + pixel;
    w += first * next_w + (size_t)(k % filters) * v.R * v.S;
    float* plane = y + (size_t)(n * v.K + k) * v.P * v.Q;
    for (int r = 0; r < v.R; ++r)
        for (int s = 0; s < v.S; ++s) {
            int p = h * v.stride_h + r * v.dilation_h - v.pad_top;
            int q = col * v.stride_w + s * v.dilation_w - v.pad_left;
            if (p < 0 || p >= v.P || q < 0 || q >= v.Q) continue;  // cropped
            float sum = 0.0f;
            for (int c = 0; c < channels; ++c) sum += x[c * next_x] * w[c * next_w + r * v.S + s];
            atomicAdd(&plane[(size_t)p * v.Q + q], sum);
        }
}
