// zero_insertion: makes a transposed convolution an ordinary one, which naive.cu then computes.
//
// Idea             put stride - 1 zeros between the pixels and what the window needs around them, turn the filters by
//                  180 degrees, swap their channels: the rest is a convolution with stride 1 and no padding.
// Parallelisation  one thread an element of the spread-out input; one thread a weight.
// Expected limit   naive.cu's: load units that fetch zeros.
// Prediction       stride_h·stride_w times as many multiply-adds as useful ones: 4 at stride 2.
// Honest negatives the spread-out input is stride_h·stride_w times as large as x, written once and read for every
//                  tap; three of four products at stride 2 are with an inserted zero.
#include "common.cuh"

// The input row or column that lies at `at` of the spread-out one, or -1 where a zero does.
__device__ int source(int at, int cropped, int window, int dilation, int stride, int size) {
    int i = at - dilation * (window - 1) + cropped;
    return i >= 0 && i % stride == 0 && i / stride < size ? i / stride : -1;
}

// z[N][C][P + dilation·(R - 1)][Q + dilation·(S - 1)]
extern "C" __global__ void spread_with_zeros(const float* __restrict__ x, float* __restrict__ z, Conv v) {
    int height = v.P + v.dilation_h * (v.R - 1), width = v.Q + v.dilation_w * (v.S - 1);
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= height * width) return;  // the last block may be larger than what is left
    int h = source(pixel / width, v.pad_top, v.R, v.dilation_h, v.stride_h, v.H);
    int col = source(pixel % width, v.pad_left, v.S, v.dilation_w, v.stride_w, v.W);
    size_t plane = (size_t)blockIdx.z * v.C + blockIdx.y;
    z[plane * height * width + pixel] = h < 0 || col < 0 ? 0.0f : x[(plane * v.H + h) * v.W + col];
}

// f[K][C / groups][R][S] of w[C][K / groups][R][S]
extern "C" __global__ void flip_filters(const float* __restrict__ w, float* __restrict__ f, Conv v) {
    int taps = v.R * v.S, tap = blockIdx.x * blockDim.x + threadIdx.x;
    if (tap >= taps) return;
    int k = blockIdx.y, c = blockIdx.z, filters = v.K / v.groups, channels = v.C / v.groups;
    int from = (k / filters * channels + c) * filters + k % filters;
    f[(size_t)(k * channels + c) * taps + tap] = w[(size_t)from * taps + taps - 1 - tap];
}
