// The fault lies in a template, in a loop that the compiler unrolls: one line, several loads.
template <int S>
__device__ float window(const float* x, int q, int W) {
    float sum = 0.0f;
#pragma unroll
    for (int s = 0; s < S; ++s)
        sum += x[q + s] * (s + 1);  // BUG: out_of_bounds
    return sum;
}

extern "C" __global__ void frames_template(float* y, const float* x, int W) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= W - 4) return;
#ifdef BUG
    y[q] = window<7>(x, q, W);  // CALLER 1
#else
    y[q] = window<5>(x, q, W);
#endif
}
