// grouped: a thread computes all filters of a group for one pixel.
//
// Idea             a group has few filters, often fewer than the tile of a matrix product. So a thread takes TM of
//                  them, exactly as many as there are up to 8: an input element goes from global memory into a
//                  register and is multiplied TM times there; no other thread wants it for this pixel. The weights,
//                  which all threads of a block want at the same time, are in shared memory.
// Parallelisation  x over the pixels of all images, neighbouring lanes at neighbouring q; blockIdx.y is the group,
//                  blockIdx.z its next TM filters where there are more.
// Expected limit   the addresses: 16 instructions for each input element, and TM multiply-adds.
// Prediction       with 4 filters a group 4 times fewer input elements and input sectors than naive, and 1.2
//                  times fewer instructions; 4 times fewer multiply-adds than implicit_gemm with its tile of 16 filters.
// Honest negatives with one filter a group it gains no more than the shared weights; with 16 and more, implicit_gemm
//                  uses an input element for all of them, and this kernel for 8.
#include "column.cuh"

#ifndef TM
#define TM 4                           // filters of a thread, and of a block
#endif
#define BK 64                          // weights of a filter that are in shared memory at a time
#define THREADS 128
static_assert(1 <= TM && TM <= 8, "with more sums a thread, fewer threads would fit on an SM");

extern "C" __global__ void __launch_bounds__(THREADS)
conv_grouped(const float* __restrict__ x, const float* __restrict__ w,
             const float* __restrict__ bias,  // null: no bias
             float* __restrict__ y, Conv v) {
    __shared__ __align__(16) float weights[BK][TM];  // [k][m]: a broadcast of up to 16 bytes to all lanes
    int filters = v.K / v.groups, gemm_k = v.C / v.groups * v.R * v.S;  // of a group, and elements of each
    int pixel = blockIdx.x * THREADS + threadIdx.x, plane = v.P * v.Q;
    int group = blockIdx.y, m0 = blockIdx.z * TM;

    Column column = column_of(pixel, group, x, v);
    float sum[TM] = {};
    for (int done = 0; done < gemm_k; done += BK) {
        int rows = min(BK, gemm_k - done);
        for (int i = threadIdx.x; i < rows * TM; i += THREADS) {
            int k = i / TM, m = i % TM;
            const float* filter = w + ((size_t)group * filters + m0 + m) * gemm_k;
            weights[k][m] = m0 + m < filters ? filter[done + k] : 0.0f;
        }
        __syncthreads();  // or a fast warp reads weights that a slow one has not stored yet
        for (int k = 0; k < rows; ++k) {
            float element = column.next(v);
            for (int m = 0; m < TM; ++m) sum[m] += weights[k][m] * element;
        }
        __syncthreads();  // or a fast warp overwrites these weights, which a slow one still reads
    }

    if (pixel >= v.N * plane) return;
    float* image = y + ((size_t)(pixel / plane) * v.K + group * filters) * plane + pixel % plane;
    for (int m = 0; m < TM; ++m)
        if (m0 + m < filters)
            image[(size_t)(m0 + m) * plane] = sum[m] + (bias ? bias[group * filters + m0 + m] : 0.0f);
}
