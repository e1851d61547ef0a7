// The largest value belongs into the last bin, but its bin number is one too high: the count lands behind the histogram.
extern "C" __global__ void bounds_atomic(int* y, const float* x, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int bin = (int)(x[i] * bins);
#ifdef BUG
    atomicAdd(&y[bin], 1);  // BUG: out_of_bounds
#else
    atomicAdd(&y[min(bin, bins - 1)], 1);
#endif
}
