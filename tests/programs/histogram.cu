// Histogram: atomics on global memory, then a private copy for each block in shared memory that is added at the end.

constexpr int BINS = 40;

extern "C" __global__ void histogram_global(const unsigned char* data, unsigned int* bins, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i] % BINS], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned char* data, unsigned int* bins, int n) {
    __shared__ unsigned int own[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) own[b] = 0;
    __syncthreads();  // every bin is zero before the first count
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i] % BINS], 1u);
    __syncthreads();  // every count is in before the bins are read
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (own[b]) atomicAdd(&bins[b], own[b]);
}

// The other atomics: extremes, bits that were seen, and the value before.
extern "C" __global__ void summary(const int* data, int* low, int* high, unsigned int* seen, int* ticket, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(low, data[i]);
    atomicMax(high, data[i]);
    atomicOr(seen, 1u << (data[i] & 31));
    ticket[atomicSub(&ticket[n], 1) - 1] = data[i];
}
