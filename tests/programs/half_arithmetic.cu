// What half precision can do: arithmetic, comparisons, and conversions with a rounding of one's choice.
#include <cuda_fp16.h>

// Results stand in rows of n: out[row * n + i].
extern "C" __global__ void arithmetic(const half* a, const half* b, const half* c, half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half x = a[i], y = b[i], z = c[i];
    half results[] = {x + y, x - y, x * y, x / y, __hfma(x, y, z), __hfma_relu(x, y, z),
                      -x, __habs(x), __hmin(x, y), __hmax(x, y), __hadd_sat(x, y), hsqrt(__habs(x)),
                      hfloor(x), hceil(x), htrunc(x), hrint(x)};
    for (int row = 0; row < sizeof(results) / sizeof(half); ++row) out[row * n + i] = results[row];
}

extern "C" __global__ void compare(const half* a, const half* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half x = a[i], y = b[i];
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5
           | __hisnan(x) << 6 | (__hisinf(x) != 0) << 7 | __hltu(x, y) << 8 | __hneu(x, y) << 9;
}

extern "C" __global__ void convert(const float* x, half* halves, int* integers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    halves[i] = __float2half_rn(x[i]);
    halves[n + i] = __float2half_rz(x[i]);
    halves[2 * n + i] = __float2half_ru(x[i]);
    halves[3 * n + i] = __float2half_rd(x[i]);
    half h = __float2half(x[i]);
    halves[4 * n + i] = __int2half_rn(__half2int_rn(h));
    integers[i] = __half2int_rn(h);
    integers[n + i] = __half2int_rz(h);
    integers[2 * n + i] = __half2int_ru(h);
    integers[3 * n + i] = __half2int_rd(h);
    integers[4 * n + i] = __half2short_rz(h);
    integers[5 * n + i] = __half_as_ushort(h);
}

// Functions that are approximations: exponentials, logarithms, roots, sines.
extern "C" __global__ void functions(const half* x, half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half results[] = {hexp(x[i]), hexp2(x[i]), hlog(__habs(x[i])), hrsqrt(__habs(x[i])), hrcp(x[i]), hsin(x[i]),
                      hcos(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(half); ++row) out[row * n + i] = results[row];
}
