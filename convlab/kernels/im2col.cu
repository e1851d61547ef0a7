// im2col: every window of the input becomes a column of a matrix; convolution is then one matrix product.
//
// Idea             columns[image][c][r][s][p][q] is the input element that tap (c, r, s) of output pixel (p, q)
//                  reads, or zero on padding. A GEMM multiplies it by w, seen as K × C·R·S, and the product is y.
// Parallelisation  x over output pixels, so that lanes store neighbours; y over channels, z over images. A thread
//                  stores the R·S taps of its pixel and channel.
// Expected limit   memory: this kernel computes nothing.
// Prediction       cuts each window out once, not once for each filter: K times fewer input elements than naive, 16
//                  on the course's layer. It stores R·S·P·Q / (H·W) times the input, 9 times here.
// Honest negatives the matrix: 9 times the input in memory for 3×3, written and read again; it may not fit.
#include "common.cuh"

extern "C" __global__ void im2col(const float* __restrict__ x, float* __restrict__ columns, Conv v, int first_image) {
    int pixels = v.P * v.Q, pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;  // the last block may be larger than what is left
    int top = pixel / v.Q * v.stride_h - v.pad_top, left = pixel % v.Q * v.stride_w - v.pad_left;
    int c = blockIdx.y, image = blockIdx.z;

    const float* plane = x + ((size_t)(first_image + image) * v.C + c) * v.H * v.W;
    float* column = columns + ((size_t)image * v.C + c) * v.R * v.S * pixels + pixel;
    for (int r = 0; r < v.R; ++r)
        for (int s = 0; s < v.S; ++s) {
            int h = top + r * v.dilation_h, col = left + s * v.dilation_w;
            bool inside = h >= 0 && h < v.H && col >= 0 && col < v.W;
            *column = inside ? plane[(size_t)h * v.W + col] : 0.0f;
            column += pixels;  // the next tap is the next row of the matrix
        }
}

// What a GEMM of ours does in its epilogue, for cuBLAS, which knows no bias.
extern "C" __global__ void add_bias(const float* __restrict__ bias,  // null: no bias
                                    float* __restrict__ y, Conv v) {
    int pixels = v.P * v.Q, pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (!bias || pixel >= pixels) return;
    int k = blockIdx.y, n = blockIdx.z;
    y[((size_t)n * v.K + k) * pixels + pixel] += bias[k];
}
