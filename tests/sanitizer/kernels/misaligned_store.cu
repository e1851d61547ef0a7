// A float2 stored to the odd elements of a row.
extern "C" __global__ void misaligned_store(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    reinterpret_cast<float2*>(y + 1)[i] = make_float2(x[i], -x[i]);  // BUG: misaligned
#else
    y[2 * i + 1] = x[i];
    y[2 * i + 2] = -x[i];
#endif
}
