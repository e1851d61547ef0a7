// The halo is filled only where it lies inside the picture: at the border it holds what the last kernel left there.
extern "C" __global__ void uninit_tile_edge(float* y, const float* x, int n) {
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 1] = i < n ? x[i] : 0.0f;
#ifdef BUG
    if (t == 0 && i > 0) tile[0] = x[i - 1];
#else
    if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0.0f;
#endif
    if (t == 63) tile[65] = i + 1 < n ? x[i + 1] : 0.0f;
    __syncthreads();
    float sum = tile[t] + tile[t + 2];  // BUG: uninitialized
    if (i < n) y[i] = sum;
}
