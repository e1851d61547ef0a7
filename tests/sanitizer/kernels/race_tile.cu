// No barrier between filling a tile and reading what other threads put there: the other warp may not have written yet.
extern "C" __global__ void race_tile(float* y, const float* x) {
    __shared__ float tile[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    tile[t] = x[first + t];  // OTHER
#ifndef BUG
    __syncthreads();  // the whole tile is written
#endif
    y[first + t] = tile[63 - t];  // BUG: race
}
