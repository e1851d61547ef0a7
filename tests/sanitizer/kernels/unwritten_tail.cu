// Four elements a thread, and nobody for the elements that are left when four does not divide the length.
extern "C" __global__ void unwritten_tail(float* y, const float* x, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
#ifdef BUG
    if (i + 3 < n)  // BUG: unwritten
        for (int j = i; j < i + 4; ++j) y[j] = x[j] + 1.0f;
#else
    for (int j = i; j < min(i + 4, n); ++j) y[j] = x[j] + 1.0f;
#endif
}
