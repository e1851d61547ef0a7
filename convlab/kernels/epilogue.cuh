// What follows a convolution, for one element; `fused_epilogue` does it in registers, `elementwise` in global memory.
#pragma once

// Scale and shift of filter k (null: none), then ReLU; NaN stays NaN, as in the frameworks.
__device__ float finished(float sum, int k, const float* scale, const float* shift, bool relu) {
    if (scale) sum *= scale[k];
    if (shift) sum += shift[k];
    return relu && sum < 0.0f ? 0.0f : sum;
}

// The larger of two for max pooling; NaN wins, as in the frameworks, where fmaxf would lose it.
__device__ float larger(float a, float b) { return b > a || b != b ? b : a; }
