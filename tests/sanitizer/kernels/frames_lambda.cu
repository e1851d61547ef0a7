// The fault lies in a lambda that a template calls for each element.
template <typename Body>
__device__ void for_each(int n, Body body) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        body(i);  // CALLER 1
}

extern "C" __global__ void frames_lambda(float* y, const float* x, int n) {
#ifdef BUG
    int last = n;
#else
    int last = n - 1;
#endif
    for_each(n, [=](int i) {  // CALLER 2
        float right = x[min(i + 1, last)];  // BUG: out_of_bounds
        y[i] = x[i] * right;
    });
}
