// Five filter taps in constant memory, and a loop to the sixth: the result gets a tap that nobody chose.
__constant__ float filter[5] = {0.5f, -1.0f, 2.0f, 0.25f, 3.0f};

extern "C" __global__ void bounds_constant_past_end(float* y, const float* x, int Q, int S) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= Q) return;
    float sum = 0.0f;
#ifdef BUG
    for (int s = 0; s <= S; ++s)
        sum += filter[s] * x[q + s];  // BUG: out_of_bounds
#else
    for (int s = 0; s < S; ++s)
        sum += filter[s] * x[q + s];
#endif
    y[q] = sum;
}
