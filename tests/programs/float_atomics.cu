// Atomics on floating-point numbers: sums in four types, and a maximum that is built from compare-and-swap.
#include <cuda_fp16.h>

extern "C" __global__ void sums(const double* x, double* d, float* f, half2* h, half* single, int bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int bin = i % bins;
    atomicAdd(&d[bin], x[i]);
    atomicAdd(&f[bin], (float)x[i]);
    atomicAdd(&h[bin], __floats2half2_rn((float)x[i], -1.0f));
    atomicAdd(&single[bin], __double2half(x[i]));
}

// There is no atomicMax for float: compare, and swap where the word is still what it was.
__device__ float atomic_max(float* word, float value) {
    int* bits = (int*)word;
    int seen = *(volatile int*)bits;
    while (__int_as_float(seen) < value) {
        int before = atomicCAS(bits, seen, __float_as_int(value));
        if (before == seen) break;
        seen = before;
    }
    return __int_as_float(seen);
}

extern "C" __global__ void maximum(const float* x, float* highest, int bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_max(&highest[i % bins], x[i]);
}

// The same by the order of bits: floats compare like integers, except that negative ones run backwards.
extern "C" __global__ void maximum_by_bits(const float* x, float* highest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] >= 0.0f)
        atomicMax((int*)highest, __float_as_int(x[i]));
    else
        atomicMin((unsigned*)highest, __float_as_uint(x[i]));
}

// A product of doubles, for which there is no instruction at all.
extern "C" __global__ void product(const double* x, double* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long* bits = (unsigned long long*)total;
    unsigned long long seen = *bits, expected;
    do {
        expected = seen;
        seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) * x[i]));
    } while (seen != expected);
}
