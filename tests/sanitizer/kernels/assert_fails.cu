// The kernel states what it relies on, and the data break it.
extern "C" __global__ void assert_fails(int* y, const int* x, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    assert(x[i] < bins - 1);  // BUG: assert
#else
    assert(x[i] < bins);
#endif
    atomicAdd(&y[x[i]], 1);
}
