// pnet: what MTCNN's first network does between its convolutions.
//
// Idea             each element by itself: prelu in place, max_pool from four neighbours.
// Parallelisation  a thread an output; x over the pixels of a plane, blockIdx.y is the channel k, blockIdx.z the image n.
// Expected limit   DRAM: one or three operations for 4 bytes read and 4 written.
// Prediction       both together move fewer bytes than the convolution after them reads again and again.
// Honest negatives fused into the convolution before them, as in fused_epilogue, they would move none.
#include "epilogue.cuh"

extern "C" __global__ void prelu(float* __restrict__ y,                     // [N][K][pixels], in place
                                 const float* __restrict__ slope, int pixels) {
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) return;  // the last block may be larger than what is left
    size_t at = (size_t)(blockIdx.z * gridDim.y + blockIdx.y) * pixels + pixel;
    if (y[at] < 0.0f) y[at] *= slope[blockIdx.y];
}

// Windows of 2×2 with stride 2; one that sticks out at the bottom or the right has only what is there.
extern "C" __global__ void max_pool_all(const float* __restrict__ x,        // [N][K][H][W]
                                        float* __restrict__ y,              // [N][K][ceil(H / 2)][ceil(W / 2)]
                                        int H, int W) {
    int P = (H + 1) / 2, Q = (W + 1) / 2;
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= P * Q) return;  // the last block may be larger than what is left
    size_t plane = blockIdx.z * gridDim.y + blockIdx.y;
    int row = pixel / Q * 2, column = pixel % Q * 2;
    const float* window = x + (plane * H + row) * W + column;
    bool right = column + 1 < W, below = row + 1 < H;
    float best = window[0];
    if (right) best = larger(best, window[1]);
    if (below) best = larger(best, window[W]);
    if (right && below) best = larger(best, window[W + 1]);
    y[plane * P * Q + pixel] = best;
}
