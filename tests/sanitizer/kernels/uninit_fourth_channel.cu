// Three channels stored, four loaded: a float4 load reads the fourth component, which nobody wrote.
extern "C" __global__ void uninit_fourth_channel(float* y, const float* x) {
    __shared__ __align__(16) float pixels[32][4];
    int t = threadIdx.x;
    for (int c = 0; c < 3; ++c) pixels[t][c] = x[c * 32 + t];
#ifndef BUG
    pixels[t][3] = 0.0f;
#endif
    __syncthreads();
    float4 v = *reinterpret_cast<float4*>(pixels[31 - t]);  // BUG: uninitialized
    y[t] = v.x + 2.0f * v.y + 3.0f * v.z + v.w;
}
