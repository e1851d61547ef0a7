// A thread's own array is one element too short: the last tap overwrites other local variables of the thread.
extern "C" __global__ void bounds_local_past_end(float* y, const float* x, const int* order, int n, int taps) {
#ifdef BUG
    float window[4];
#else
    float window[5];
#endif
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int s = 0; s < taps; ++s)
        window[order[s]] = x[i * taps + s];  // BUG: out_of_bounds
    float sum = 0.0f;
    for (int s = 0; s < 4; ++s) sum += window[order[s]] * (s + 1);
    y[i] = sum;
}
