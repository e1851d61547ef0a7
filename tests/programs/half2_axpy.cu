// half2: two half-precision multiply-adds in one instruction, and the odd element at the end.
#include <cuda_fp16.h>

// y = a * x + y
extern "C" __global__ void axpy(half a, const half* x, half* y, int n) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * pair + 1 < n) {
        const half2* x2 = (const half2*)x;
        half2* y2 = (half2*)y;
        y2[pair] = __hfma2(__half2half2(a), x2[pair], y2[pair]);
    } else if (2 * pair < n) {
        y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
    }
}

// The sum of x[i] * y[i] for each block, in float: half would lose digits of a long sum.
extern "C" __global__ void dot(const half2* x, const half2* y, float* sums, int pairs) {
    float2 sum = {0.0f, 0.0f};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += gridDim.x * blockDim.x) {
        float2 left = __half22float2(x[i]), right = __half22float2(y[i]);
        sum.x += left.x * right.x;
        sum.y += left.y * right.y;
    }
    float total = sum.x + sum.y;
    for (int offset = 16; offset > 0; offset /= 2) total += __shfl_down_sync(0xffffffff, total, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[blockIdx.x], total);
}
