// naive_nhwc: naive, with the channels last; one thread computes one output element.
//
// Idea             the same sum over tensors whose fastest axis is the channel: x[N][H][W][C], w[K][R][S][C / groups],
//                  y[N][P][Q][K]. The channels of a tap are neighbours, so padding is tested once a tap.
// Parallelisation  x over the outputs of one image, filters fastest: neighbouring lanes compute neighbouring k of one
//                  pixel. blockIdx.y is the image n.
// Expected limit   the load units, by the weights: lanes read filters that lie R·S·C / groups elements apart, a
//                  sector for each lane.
// Prediction       half of naive's input sectors at K = 16: a warp reads two pixels, a sector each, against the four of
//                  32 neighbouring pixels; a quarter from K = 32 on. And 16 times naive's weight sectors.
// Honest negatives the weights cost more than the inputs save. The L1 holds their sectors for the next channels, but
//                  the load units still handle each. Weights stored k-fastest would be read as they lie; the GEMM
//                  rungs carry them through shared memory instead. Fewer than 32 filters mix pixels in a warp.
#include "common.cuh"

extern "C" __global__ void conv_naive_nhwc(const float* __restrict__ x, const float* __restrict__ w,
                                           const float* __restrict__ bias,  // null: no bias
                                           float* __restrict__ y, Conv v) {
    int output = blockIdx.x * blockDim.x + threadIdx.x;
    if (output >= v.P * v.Q * v.K) return;  // the last block may be larger than what is left
    int k = output % v.K, pixel = output / v.K;
    int p = pixel / v.Q, q = pixel % v.Q;
    int n = blockIdx.y;

    int channels = v.C / v.groups;                       // that one filter sees
    int first = k / (v.K / v.groups) * channels;         // the first of them
    float sum = bias ? bias[k] : 0.0f;
    for (int r = 0; r < v.R; ++r)
        for (int s = 0; s < v.S; ++s) {
            int h = p * v.stride_h - v.pad_top + r * v.dilation_h;
            int col = q * v.stride_w - v.pad_left + s * v.dilation_w;
            if (h < 0 || h >= v.H || col < 0 || col >= v.W) continue;              // padding: zero
            const float* from = x + (((size_t)n * v.H + h) * v.W + col) * v.C + first;  // [channels]
            const float* tap = w + (((size_t)k * v.R + r) * v.S + s) * channels;        // [channels]
            for (int c = 0; c < channels; ++c) sum += from[c] * tap[c];
        }
    y[(size_t)n * v.P * v.Q * v.K + output] = sum;
}
