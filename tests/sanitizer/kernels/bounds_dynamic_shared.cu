// The launch gives blockDim floats of dynamic shared memory; a kernel that also keeps two cells of halo needs more.
extern "C" __global__ void bounds_dynamic_shared(float* y, const float* x, int n) {
    extern __shared__ float tile[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float left = i > 0 && i <= n ? x[i - 1] : 0.0f, mine = i < n ? x[i] : 0.0f, right = i + 1 < n ? x[i + 1] : 0.0f;
#ifdef BUG
    tile[t + 1] = mine;  // BUG: out_of_bounds
    if (t == 0) tile[0] = left;
    __syncthreads();
    if (t + 1 < blockDim.x) right = tile[t + 2];  // BUG: out_of_bounds
    left = tile[t];
#else
    tile[t] = mine;
    __syncthreads();
    if (t > 0) left = tile[t - 1];
    if (t + 1 < blockDim.x) right = tile[t + 1];
#endif
    if (i < n) y[i] = left + mine + right;
}
