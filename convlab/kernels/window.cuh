// The window of one output pixel: what an implicit GEMM makes a column of X_col from.
#pragma once
#include "common.cuh"

template <typename T> struct Window {
    const T* image;                    // from the first channel that it sees
    int top, left;                     // where it starts, be it in the padding
};

// The window of a pixel, counted through all images; all its divisions are here. `x` starts with the group's channels.
template <typename T> __device__ Window<T> window_of(int pixel, const T* x, const Conv& v) {
    int n = pixel / (v.P * v.Q), p = pixel / v.Q % v.P, q = pixel % v.Q;
    return {x + (size_t)n * v.C * v.H * v.W,
            n < v.N ? p * v.stride_h - v.pad_top : v.H,  // past the last image: below it, where all is zero
            q * v.stride_w - v.pad_left};
}
