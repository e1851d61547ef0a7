// elementwise: what follows a convolution as kernels of their own, for comparison with fused_epilogue.
//
// Idea             each step reads what the last one wrote: easy to write, easy to exchange.
// Parallelisation  a thread an output; x over the pixels of a plane, blockIdx.y is the filter k, blockIdx.z the
//                  image n.
// Expected limit   DRAM: one or three operations for 4 bytes read and 4 written.
// Prediction       ReLU moves its tensor twice, once in and once out, and pooling once and a quarter.
// Honest negatives there is nothing to make faster here, only something to leave out.
#include "epilogue.cuh"

extern "C" __global__ void scale_shift_relu(float* __restrict__ y,          // [N][K][pixels], in place
                                            const float* __restrict__ scale, const float* __restrict__ shift,
                                            int pixels, bool relu) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;  // the last block may be larger than what is left
    int k = blockIdx.y, n = blockIdx.z;
    size_t at = (size_t)(n * gridDim.y + k) * pixels + pixel;
    y[at] = finished(y[at], k, scale, shift, relu);
}

extern "C" __global__ void max_pool(const float* __restrict__ x,            // [N][K][P][Q]
                                    float* __restrict__ y,                  // [N][K][P / 2][Q / 2]
                                    int P, int Q) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= P / 2 * (Q / 2)) return;  // the last block may be larger than what is left
    size_t plane = blockIdx.z * gridDim.y + blockIdx.y;
    const float* window = x + (plane * P + pixel / (Q / 2) * 2) * Q + pixel % (Q / 2) * 2;
    float top = larger(window[0], window[1]), bottom = larger(window[Q], window[Q + 1]);
    y[plane * (P / 2) * (Q / 2) + pixel] = larger(top, bottom);
}
