// depthwise: one filter for each channel, or several; one thread computes a strip of one column.
//
// Idea             without a sum over channels nothing but the windows' overlap can be reused: a thread walks down a
//                  column, and each row that it loads serves all the outputs that see it; the taps stay in registers.
// Parallelisation  a thread for TP outputs, numbered q first, then strips, then planes, so that neighbouring lanes
//                  load neighbouring columns, and small images fill a warp together.
// Expected limit   DRAM: R·S multiply-adds for each element that comes and each that goes, 2.25 FLOP/byte at 3×3.
// Prediction       3×3 at stride 1: 2.4 times fewer input elements than naive (a strip of 8 loads 10 rows of 3, not 8
//                  times 9), 3.6 times fewer load requests (the taps come once a strip), 2.3 times fewer instructions.
// Honest negatives the last strip of a column computes rows that do not exist; a filter other than 3×3 or 5×5 reuses
//                  its taps only; overlap along q is left to the L1.
#include "strip.cuh"

template <int R, int S, int U>  // 0, 0, 0: any filter
__device__ void depthwise(const float* x, const float* w, const float* bias, float* y, const Conv& v) {
    int strips = (v.P + TP - 1) / TP;
    int unit = blockIdx.x * blockDim.x + threadIdx.x;
    int plane = unit / v.Q / strips;            // n·K + k
    if (plane >= v.N * v.K) return;
    int q = unit % v.Q, p = unit / v.Q % strips * TP;
    int n = plane / v.K, k = plane % v.K, c = k / (v.K / v.C);

    float sum[TP];                              // [p .. p + TP)
    for (int t = 0; t < TP; ++t) sum[t] = bias ? bias[k] : 0.0f;
    add_strip<R, S, U>(x + (size_t)(n * v.C + c) * v.H * v.W, w + (size_t)k * v.R * v.S, p, q, v, sum);
    #pragma unroll
    for (int t = 0; t < TP; ++t)
        if (p + t < v.P) y[((size_t)plane * v.P + p + t) * v.Q + q] = sum[t];
}

// A name of its own for each size that is known when compiling: filter, vertical stride.
extern "C" __global__ void conv_depthwise_3x3(const float* __restrict__ x, const float* __restrict__ w,
                                              const float* __restrict__ bias, float* __restrict__ y, Conv v) {
    depthwise<3, 3, 1>(x, w, bias, y, v);
}

extern "C" __global__ void conv_depthwise_3x3_stride2(const float* __restrict__ x, const float* __restrict__ w,
                                                      const float* __restrict__ bias, float* __restrict__ y, Conv v) {
    depthwise<3, 3, 2>(x, w, bias, y, v);
}

extern "C" __global__ void conv_depthwise_5x5(const float* __restrict__ x, const float* __restrict__ w,
                                              const float* __restrict__ bias, float* __restrict__ y, Conv v) {
    depthwise<5, 5, 1>(x, w, bias, y, v);
}

extern "C" __global__ void conv_depthwise_5x5_stride2(const float* __restrict__ x, const float* __restrict__ w,
                                                      const float* __restrict__ bias, float* __restrict__ y, Conv v) {
    depthwise<5, 5, 2>(x, w, bias, y, v);
}

extern "C" __global__ void conv_depthwise_any(const float* __restrict__ x, const float* __restrict__ w,
                                              const float* __restrict__ bias, float* __restrict__ y, Conv v) {
    depthwise<0, 0, 0>(x, w, bias, y, v);
}
