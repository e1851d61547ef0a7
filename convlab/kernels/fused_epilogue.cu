// fused_epilogue: convolution, bias, scale and shift (a batch norm), ReLU and 2×2 max pooling in one kernel.
//
// Idea             what follows a convolution needs its result only, and that lies in a register: finish it there. For
//                  pooling a thread computes two rows of a column, and the pair of neighbouring lanes swaps its maxima.
// Parallelisation  as naive, with two rows a thread where it pools: neighbouring lanes stay neighbouring columns. (With
//                  2×2 a thread, lanes would load two apart, and touch twice the sectors.)
// Expected limit   that of naive: the load units. What is fused adds a few instructions and no traffic.
// Prediction       with ReLU and pooling 9 times fewer store sectors than naive, ReLU and pooling one after the other
//                  (1/4 instead of 1 + 1 + 1/4 of the convolution's output); 1.3 times fewer load requests, since a
//                  weight serves two rows; 1.1 times fewer global bytes.
// Honest negatives 97 of 100 bytes that the L1 sees are the naive convolution's own loads: what fusion saves shows in
//                  stores and in DRAM. Half the lanes do nothing at the store.
#include "common.cuh"
#include "epilogue.cuh"

template <bool POOL>
__device__ void conv_block(const float* x, const float* w, const float* bias, const float* scale, const float* shift,
                           float* y, const Conv& v, bool relu) {
    constexpr int ROWS = POOL ? 2 : 1;
    int rows = v.P / ROWS, width = POOL ? v.Q / 2 * 2 : v.Q;  // pooling leaves an odd last row and column out
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    if (unit >= rows * width) return;                         // an even number goes on, so that no pair is parted
    int row = unit / width, q = unit % width;
    int k = blockIdx.y, n = blockIdx.z;

    int channels = v.C / v.groups, first = k / (v.K / v.groups) * channels;
    float sum[ROWS];                                          // [row·ROWS ..][q]
    for (int i = 0; i < ROWS; ++i) sum[i] = bias ? bias[k] : 0.0f;
    for (int c = 0; c < channels; ++c)
        for (int r = 0; r < v.R; ++r)
            for (int s = 0; s < v.S; ++s) {
                float tap = w[((size_t)(k * channels + c) * v.R + r) * v.S + s];
                int col = q * v.stride_w - v.pad_left + s * v.dilation_w;
                #pragma unroll
                for (int i = 0; i < ROWS; ++i) {
                    int h = (row * ROWS + i) * v.stride_h - v.pad_top + r * v.dilation_h;
                    if (h >= 0 && h < v.H && col >= 0 && col < v.W)
                        sum[i] += x[((size_t)(n * v.C + first + c) * v.H + h) * v.W + col] * tap;
                }
            }

    float value = finished(sum[0], k, scale, shift, relu);
    if constexpr (POOL) {
        value = larger(value, finished(sum[1], k, scale, shift, relu));
        value = larger(value, __shfl_xor_sync(~0u, value, 1));  // the other column of the 2×2
        if (q % 2) return;
        q /= 2;
        width /= 2;
    }
    y[((size_t)(n * v.K + k) * rows + row) * width + q] = value;
}

extern "C" __global__ void fused_epilogue(const float* __restrict__ x, const float* __restrict__ w,
                                          const float* __restrict__ bias, const float* __restrict__ scale,
                                          const float* __restrict__ shift, float* __restrict__ y, Conv v, bool relu) {
    conv_block<false>(x, w, bias, scale, shift, y, v, relu);
}

extern "C" __global__ void fused_epilogue_pool(const float* __restrict__ x, const float* __restrict__ w,
                                               const float* __restrict__ bias, const float* __restrict__ scale,
                                               const float* __restrict__ shift, float* __restrict__ y, Conv v,
                                               bool relu) {
    conv_block<true>(x, w, bias, scale, shift, y, v, relu);
}
