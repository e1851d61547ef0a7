// A float4 needs an address that 16 divides; x + 1 is not one. The GPU ends the program.
extern "C" __global__ void misaligned_float4_global(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    float4 v = *reinterpret_cast<const float4*>(x + 4 * i + 1);  // BUG: misaligned
#else
    float4 v = make_float4(x[4 * i + 1], x[4 * i + 2], x[4 * i + 3], x[4 * i + 4]);
#endif
    y[i] = v.x * v.y + v.z * v.w;
}
