// Two stages in flight, but the wait lets both of them be outstanding: it must leave one, the next tile's.
#include <cuda_pipeline.h>

extern "C" __global__ void race_cp_async_stage(float* y, const float* x, int tiles) {
    __shared__ float stage[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&stage[0][t], x + t, 4);  // OTHER
    __pipeline_commit();
    for (int n = 0; n < tiles; ++n) {
        if (n + 1 < tiles) __pipeline_memcpy_async(&stage[(n + 1) % 2][t], x + (n + 1) * 64 + t, 4);  // OTHER
        __pipeline_commit();
#ifdef BUG
        __pipeline_wait_prior(2);
#else
        __pipeline_wait_prior(1);  // this tile has landed, the next one may be on its way
#endif
        __syncthreads();
        sum += stage[n % 2][63 - t] * (n + 1);  // BUG: race
        __syncthreads();  // this tile is read
    }
    y[t] = sum;
}
