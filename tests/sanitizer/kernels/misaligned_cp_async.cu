// An asynchronous copy of 16 bytes from a row that begins at an odd float.
#include <cuda_pipeline.h>

extern "C" __global__ void misaligned_cp_async(float* y, const float* x, int W) {
    __shared__ __align__(16) float row[128];
    int t = threadIdx.x;
#ifdef BUG
    __pipeline_memcpy_async(&row[4 * t], x + blockIdx.x * W + 4 * t, 16);  // BUG: misaligned
#else
    for (int j = 0; j < 4; ++j) __pipeline_memcpy_async(&row[4 * t + j], x + blockIdx.x * W + 4 * t + j, 4);
#endif
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
#ifndef BUG
    for (int j = t; j < 128; j += 32) y[blockIdx.x * 128 + j] = row[127 - j];
#endif
}
