// RMS norm in bfloat16, two numbers at a time: the mean square in float, the scaling in __nv_bfloat162.
#include <cuda_bf16.h>

// One block normalises one row of pairs: y = x / sqrt(mean(x * x) + epsilon) * weight.
extern "C" __global__ void rms_norm(const __nv_bfloat162* x, const __nv_bfloat162* weight, __nv_bfloat162* y,
                                    int pairs, float epsilon) {
    __shared__ float partial[32];
    x += blockIdx.x * pairs;
    y += blockIdx.x * pairs;

    float sum = 0.0f;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        float2 v = __bfloat1622float2(x[i]);
        sum += v.x * v.x + v.y * v.y;
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();  // every warp's part is there

    float total = 0.0f;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) total += partial[warp];
    __nv_bfloat162 scale = __float2bfloat162_rn(rsqrtf(total / (2 * pairs) + epsilon));
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) y[i] = __hmul2(__hmul2(x[i], scale), weight[i]);
}

// The other arithmetic of pairs, in rows of n: sum, difference, fused multiply-add, smaller, larger, magnitude.
extern "C" __global__ void pairs(const __nv_bfloat162* a, const __nv_bfloat162* b, const __nv_bfloat162* c,
                                 __nv_bfloat162* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = __hadd2(a[i], b[i]);
    out[n + i] = __hsub2(a[i], b[i]);
    out[2 * n + i] = __hfma2(a[i], b[i], c[i]);
    out[3 * n + i] = __hmin2(a[i], b[i]);
    out[4 * n + i] = __hmax2(a[i], b[i]);
    out[5 * n + i] = __habs2(__hneg2(a[i]));
}
