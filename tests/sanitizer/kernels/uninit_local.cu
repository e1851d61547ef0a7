// A window of five with four values in it: the fifth is whatever lay on the thread's stack.
extern "C" __global__ void uninit_local(float* y, const float* x, const int* order, int n) {
    float window[5];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    for (int s = 0; s < 4; ++s) window[order[s]] = x[i + s];
#else
    for (int s = 0; s < 5; ++s) window[order[s]] = x[i + s];
#endif
    float sum = 0.0f;
    for (int s = 0; s < 5; ++s)
        sum += window[order[s]] * (s + 1);  // BUG: uninitialized
    y[i] = sum;
}
