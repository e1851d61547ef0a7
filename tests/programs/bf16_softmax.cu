// Softmax of rows in bfloat16: 16 bits in memory, float in registers, one warp a row.
#include <cuda_bf16.h>

constexpr unsigned ALL = 0xffffffff;

__device__ float warp_max(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, offset));
    return x;
}

__device__ float warp_sum(float x) {
    for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(ALL, x, offset);
    return x;
}

extern "C" __global__ void softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * columns;
    y += row * columns;

    float highest = __bfloat162float(x[0]);
    for (int i = lane; i < columns; i += 32) highest = fmaxf(highest, __bfloat162float(x[i]));
    highest = warp_max(highest);  // subtracted, so that no exponential overflows

    float sum = 0.0f;
    for (int i = lane; i < columns; i += 32) sum += __expf(__bfloat162float(x[i]) - highest);
    sum = warp_sum(sum);

    for (int i = lane; i < columns; i += 32)
        y[i] = __float2bfloat16(__expf(__bfloat162float(x[i]) - highest) / sum);
}
