// += into an output that nobody cleared: the first addition reads what was there before.
extern "C" __global__ void uninit_accumulate(float* y, const float* x, const float* w, int Q, int S) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= Q) return;
#ifdef BUG
    for (int s = 0; s < S; ++s)
        y[q] += x[q + s] * w[s];  // BUG: uninitialized
#else
    float sum = 0.0f;
    for (int s = 0; s < S; ++s) sum += x[q + s] * w[s];
    y[q] = sum;
#endif
}
