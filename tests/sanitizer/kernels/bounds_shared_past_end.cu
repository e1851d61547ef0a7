// A tile without room for its halo: the last thread reads one element past the shared array.
extern "C" __global__ void bounds_shared_past_end(float* y, const float* x, int n) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
#ifdef BUG
    __shared__ float tile[64];
#else
    __shared__ float tile[65];
    if (t == 0) tile[64] = i + 64 < n ? x[i + 64] : 0.0f;
#endif
    tile[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float right = tile[t + 1];  // BUG: out_of_bounds
    if (i < n) y[i] = tile[t] + right;
}
