// add_parts: the second step of a sum over k that several blocks computed in parts.
//
// Idea             an output of few tiles leaves most of a GPU idle; parts of k fill it, and are added here. Always in
//                  the same order: atomics would give other roundings each time.
// Parallelisation  one thread, one output.
// Expected limit   DRAM bandwidth, or L2 where the parts fit it; on small outputs the launch itself.
// Prediction       every part is read once, in whole sectors.
// Honest negatives it reads four bytes for each addition; the last part could have stayed in registers.
#include "common.cuh"

// parts[splits][N][P][Q][K]
extern "C" __global__ void add_parts(const float* __restrict__ parts,
                                     const float* __restrict__ bias,  // null: no bias
                                     float* __restrict__ y, Conv v, int splits) {
    size_t size = (size_t)v.N * v.P * v.Q * v.K, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;  // the last block may be larger than what is left
    float sum = bias ? bias[i % v.K] : 0.0f;
    for (int split = 0; split < splits; ++split) sum += parts[split * size + i];
    y[i] = sum;
}
