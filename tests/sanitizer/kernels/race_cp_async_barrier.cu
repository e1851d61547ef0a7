// Each thread waits for its own copy, then reads another thread's: that one needs a barrier as well.
#include <cuda_pipeline.h>

extern "C" __global__ void race_cp_async_barrier(float* y, const float* x) {
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    __pipeline_memcpy_async(&tile[t], x + first + t, 4);  // OTHER
    __pipeline_commit();
    __pipeline_wait_prior(0);  // my copy has landed
#ifndef BUG
    __syncthreads();  // so have the others'
#endif
    y[first + t] = tile[63 - t];  // BUG: race
}
