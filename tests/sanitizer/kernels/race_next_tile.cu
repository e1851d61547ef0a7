// The barrier after the sum is missing: a fast warp overwrites the tile that a slow one still reads.
extern "C" __global__ void race_next_tile(float* y, const float* x, int tiles) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int n = 0; n < tiles; ++n) {
        tile[t] = x[n * 64 + t];  // BUG: race
        __syncthreads();          // the tile is written
        sum += tile[t] - 2.0f * tile[(t + 32) % 64];  // OTHER
#ifndef BUG
        __syncthreads();  // the tile is read
#endif
    }
    y[t] = sum;
}
