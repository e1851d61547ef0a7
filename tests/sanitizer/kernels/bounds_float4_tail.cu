// The last float4 begins inside x and ends outside: a vector load needs all four of its elements.
extern "C" __global__ void bounds_float4_tail(float* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i >= n) return;
#ifdef BUG
    float4 v = reinterpret_cast<const float4*>(x)[i];  // BUG: out_of_bounds
    float sum = v.x + v.y + v.z + v.w;
#else
    float sum = 0.0f;
    if (4 * i + 3 < n) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        sum = v.x + v.y + v.z + v.w;
    } else {
        for (int j = 4 * i; j < n; ++j) sum += x[j];
    }
#endif
    y[i] = sum;
}
