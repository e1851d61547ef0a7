// assert in kernels: what must hold is written down, checked by every thread, and reported with its line.

// y[i] = x[index[i]], and how long that took; nanosleep only makes the clock move on.
extern "C" __global__ void gather(const float* x, const int* index, float* y, long long* ticks, int n, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x % warpSize == 0);
    if (i >= n) return;
    long long start = clock64();
    unsigned before = clock();
    assert(index[i] >= 0 && index[i] < size);
    y[i] = x[index[i]];
#if __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
    unsigned after = clock();
    assert(after - before < 0x80000000u);  // unsigned, so that a wrap between the two does no harm
    ticks[i] = clock64() - start;
}
