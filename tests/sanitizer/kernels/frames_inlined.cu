// The fault lies in a function that is inlined into one that is inlined into the kernel: its line, and both callers'.
__device__ __forceinline__ float at(const float* x, int i) {
    return x[i];  // BUG: out_of_bounds
}

__device__ __forceinline__ float slope(const float* x, int i, int j) {
    float left = at(x, i);
    float right = at(x, j);  // CALLER 1
    return right - left;
}

extern "C" __global__ void frames_inlined(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float before = slope(x, max(i - 1, 0), i);
#ifdef BUG
    float after = slope(x, i, i + 1);  // CALLER 2
#else
    float after = slope(x, i, min(i + 1, n - 1));
#endif
    y[i] = after - before;
}
