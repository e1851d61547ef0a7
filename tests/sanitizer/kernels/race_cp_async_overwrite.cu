// The next asynchronous copy starts while other warps still read the tile that it overwrites.
#include <cuda_pipeline.h>

extern "C" __global__ void race_cp_async_overwrite(float* y, const float* x, int tiles) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int n = 0; n < tiles; ++n) {
        __pipeline_memcpy_async(&tile[t], x + n * 64 + t, 4);  // BUG: race
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();                   // the tile has landed
        sum += tile[63 - t] * (n + 1);     // OTHER
#ifndef BUG
        __syncthreads();  // the tile is read
#endif
    }
    y[t] = sum;
}
