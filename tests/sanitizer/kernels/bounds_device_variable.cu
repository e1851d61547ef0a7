// A table of 8 entries in a __device__ variable, indexed with 8 for the largest input.
__device__ float table[8] = {0.0f, 1.0f, 4.0f, 9.0f, 16.0f, 25.0f, 36.0f, 49.0f};

extern "C" __global__ void bounds_device_variable(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int entry = (int)(x[i] * 8.0f);
#ifdef BUG
    y[i] = table[entry];  // BUG: out_of_bounds
#else
    y[i] = table[min(entry, 7)];
#endif
}
