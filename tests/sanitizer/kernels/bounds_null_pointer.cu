// The optional bias is a null pointer, and the kernel reads it without asking.
extern "C" __global__ void bounds_null_pointer(float* y, const float* x, const float* bias, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    float b = bias[i % 7];  // BUG: out_of_bounds
#else
    float b = bias ? bias[i % 7] : 0.0f;
#endif
    y[i] = x[i] + b;
}
