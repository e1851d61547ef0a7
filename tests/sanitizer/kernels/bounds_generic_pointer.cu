// A function that takes any pointer gets one into shared memory, and reads past that array.
__device__ __noinline__ float pair(const float* p, int i) {
    return p[i] + p[i + 1];  // BUG: out_of_bounds
}

extern "C" __global__ void bounds_generic_pointer(float* y, const float* x, int n) {
    __shared__ float tile[33];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (t == 0) tile[32] = x[32];
    __syncthreads();
#ifdef BUG
    y[t] = pair(x, t) * pair(tile, t + 1);
#else
    y[t] = pair(x, t) * pair(tile, t);
#endif
}
