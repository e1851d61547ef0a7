// The fault lies in a function that calls itself, and is therefore never inlined.
__device__ __noinline__ float descend(const float* x, int node, int n) {
    float here = x[node];  // BUG: out_of_bounds
#ifdef BUG
    if (node > n) return here;
#else
    if (2 * node + 2 >= n) return here;
#endif
    return fmaxf(here, fmaxf(descend(x, 2 * node + 1, n), descend(x, 2 * node + 2, n)));
}

extern "C" __global__ void frames_recursion(float* y, const float* x, int n) {
    y[threadIdx.x] = descend(x, threadIdx.x, n);
}
