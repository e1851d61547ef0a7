// SAXPY, y = a x + y: one load of 16 bytes in place of four, and a scalar tail for what four does not divide.

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy_vector(float a, const float4* __restrict__ x, float4* __restrict__ y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int whole = n / 4;
    if (i < whole) {
        float4 u = x[i], v = y[i];
        v.x = a * u.x + v.x;
        v.y = a * u.y + v.y;
        v.z = a * u.z + v.z;
        v.w = a * u.w + v.w;
        y[i] = v;
    }
    if (i < n % 4) {  // the first threads also do the tail
        const float* xs = reinterpret_cast<const float*>(x);
        float* ys = reinterpret_cast<float*>(y);
        int j = whole * 4 + i;
        ys[j] = a * xs[j] + ys[j];
    }
}

extern "C" __global__ void swap_halves(float2* pairs, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 p = pairs[i];
        pairs[i] = make_float2(p.y, p.x);
    }
}
