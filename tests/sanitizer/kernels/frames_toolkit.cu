// The fault lies in a function of NVIDIA's headers: the line is the learner's that called it.
extern "C" __global__ void frames_toolkit(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    float right = __ldg(x + i + 1);  // BUG: out_of_bounds
#else
    float right = i + 1 < n ? __ldg(x + i + 1) : 0.0f;
#endif
    y[i] = __ldg(x + i) - right;
}
