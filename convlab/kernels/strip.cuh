// A strip: TP outputs of one column, one below the other, of a filter that sees one channel. What `depthwise` is made
// of, and the first half of `separable_fused`.
#pragma once
#include "common.cuh"

#ifndef TP
#define TP 8  // outputs of a strip
#endif
static_assert(TP > 0, "a strip has outputs");

// Add R × S filters of vertical stride U, dilation_h 1: a row of the input is loaded once, and serves every output of
// the strip that sees it. Sizes known here unroll the loops, so that taps and sums can live in registers.
template <int R, int S, int U>
__device__ void add_strip(const float* plane, const float* filter, int p, int q, const Conv& v, float (&sum)[TP]) {
    float tap[R][S];
    #pragma unroll
    for (int i = 0; i < R * S; ++i) tap[i / S][i % S] = filter[i];
    #pragma unroll
    for (int i = 0; i < (TP - 1) * U + R; ++i) {
        int h = p * U - v.pad_top + i;
        float row[S];
        #pragma unroll
        for (int s = 0; s < S; ++s) {
            int col = q * v.stride_w - v.pad_left + s * v.dilation_w;
            bool inside = h >= 0 && h < v.H && col >= 0 && col < v.W;
            row[s] = inside ? plane[h * v.W + col] : 0.0f;
        }
        #pragma unroll
        for (int t = 0; t < TP; ++t) {
            int r = i - t * U;  // the tap that output t puts on this row
            #pragma unroll
            for (int s = 0; s < S; ++s)
                if (r >= 0 && r < R) sum[t] += row[s] * tap[r][s];
        }
    }
}

// Any filter: a tap is loaded once for the strip, each input for every window that sees it.
template <>
__device__ void add_strip<0, 0, 0>(const float* plane, const float* filter, int p, int q, const Conv& v,
                                   float (&sum)[TP]) {
    for (int r = 0; r < v.R; ++r)
        for (int s = 0; s < v.S; ++s) {
            float tap = filter[r * v.S + s];
            int col = q * v.stride_w - v.pad_left + s * v.dilation_w;
            #pragma unroll
            for (int t = 0; t < TP; ++t) {
                int h = (p + t) * v.stride_h - v.pad_top + r * v.dilation_h;
                if (p + t < v.P && h >= 0 && h < v.H && col >= 0 && col < v.W)
                    sum[t] += plane[h * v.W + col] * tap;
            }
        }
}
