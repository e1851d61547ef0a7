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

// y[index[i]] = x[i], for an index that names each place once: seen starts with zeros, and nobody may come second.
extern "C" __global__ void scatter(const float* x, const int* index, float* y, int* seen, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    assert(index[i] >= 0 && index[i] < n);
    int before = atomicAdd(&seen[index[i]], 1);
    assert(before == 0 && "index is no permutation");
    y[index[i]] = x[i];
}
