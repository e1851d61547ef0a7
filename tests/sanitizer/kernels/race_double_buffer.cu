// Two buffers, one of them filled while the other is read; with the wrong index, both are the same one.
extern "C" __global__ void race_double_buffer(float* y, const float* x, int tiles) {
    __shared__ float buffer[2][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    buffer[0][t] = x[t];
    __syncthreads();
    for (int n = 0; n < tiles; ++n) {
#ifdef BUG
        int next = n % 2;
#else
        int next = (n + 1) % 2;
#endif
        if (n + 1 < tiles) buffer[next][t] = x[(n + 1) * 64 + t];  // OTHER
        sum += buffer[n % 2][63 - t] * (n + 1);                    // BUG: race
        __syncthreads();  // the next tile is written, this one is read
    }
    y[t] = sum;
}
