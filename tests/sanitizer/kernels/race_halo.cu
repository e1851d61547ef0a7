// The barrier stands before the halo is filled: the last thread reads a cell that thread 1 may not have written.
extern "C" __global__ void race_halo(float* y, const float* x, int n) {
    __shared__ float tile[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, first = blockIdx.x * 64;
    tile[t + 1] = i < n ? x[i] : 0.0f;
#ifdef BUG
    __syncthreads();
#endif
    if (t == 0) tile[0] = first > 0 ? x[first - 1] : 0.0f;
    if (t == 1) tile[65] = first + 64 < n ? x[first + 64] : 0.0f;  // OTHER
#ifndef BUG
    __syncthreads();  // tile and halo are written
#endif
    float sum = tile[t] + 2.0f * tile[t + 1] + tile[t + 2];  // BUG: race
    if (i < n) y[i] = sum;
}
