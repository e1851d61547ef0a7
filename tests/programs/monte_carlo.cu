// Monte Carlo: each thread draws from a generator of its own, and hits are counted with 64-bit atomics.

typedef unsigned long long u64;

__device__ unsigned int draw(u64& state) {  // Knuth's MMIX generator: the upper bits are the good ones
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<unsigned int>(state >> 40);  // 24 bits
}

__device__ double unit(u64& state) { return draw(state) * (1.0 / 16777216.0); }  // exact

extern "C" __global__ void count_in_circle(u64 seed, int samples, u64* hits) {
    u64 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u64 state = seed ^ (thread * 0x9E3779B97F4A7C15ULL);
    u64 own = 0;
    for (int i = 0; i < samples; ++i) {
        double x = unit(state), y = unit(state);
        own += x * x + y * y < 1.0;  // 49 bits at most: exact in a double
    }
    atomicAdd(hits, own);
}

// The sum of draws overflows 32 bits at once, and their largest needs a comparison of 64.
extern "C" __global__ void extremes(u64 seed, int samples, u64* sum, u64* largest, long long* smallest_signed) {
    u64 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u64 state = seed ^ (thread * 0x9E3779B97F4A7C15ULL);
    for (int i = 0; i < samples; ++i) {
        atomicAdd(sum, static_cast<u64>(draw(state)) << 16);
        atomicMax(largest, state);
        atomicMin(smallest_signed, static_cast<long long>(state));
    }
}
