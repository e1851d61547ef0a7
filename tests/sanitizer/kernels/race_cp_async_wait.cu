// A barrier does not wait for asynchronous copies: without a wait, the tile may still be on its way.
#include <cuda_pipeline.h>

extern "C" __global__ void race_cp_async_wait(float* y, const float* x) {
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    __pipeline_memcpy_async(&tile[t], x + first + t, 4);  // OTHER
    __pipeline_commit();
#ifndef BUG
    __pipeline_wait_prior(0);  // my copy has landed
#endif
    __syncthreads();
    y[first + t] = tile[63 - t];  // BUG: race
}
