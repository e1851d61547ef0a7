// Atomics on integers of 32 and 64 bits, in global and in shared memory: what each leaves behind, and what it returns.

// All threads work on the same few words; out32 and out64 start with what the operation needs to begin with.
extern "C" __global__ void global_words(const int* x, const long long* y, int* out32, unsigned* unsigned32,
                                        long long* out64, unsigned long long* unsigned64, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long bits = y[i];
    atomicAdd(&out32[0], x[i]);
    atomicSub(&out32[1], x[i]);
    atomicMin(&out32[2], x[i]);
    atomicMax(&out32[3], x[i]);
    atomicMin(&unsigned32[0], (unsigned)x[i]);
    atomicMax(&unsigned32[1], (unsigned)x[i]);
    atomicAnd(&unsigned32[2], (unsigned)x[i]);
    atomicOr(&unsigned32[3], (unsigned)x[i]);
    atomicXor(&unsigned32[4], (unsigned)x[i]);
    atomicMin(&out64[0], y[i]);
    atomicMax(&out64[1], y[i]);
    atomicAdd(&unsigned64[0], bits);
    atomicMin(&unsigned64[1], bits);
    atomicMax(&unsigned64[2], bits);
    atomicAnd(&unsigned64[3], bits);
    atomicOr(&unsigned64[4], bits);
    atomicXor(&unsigned64[5], bits);
}

// Tickets: atomicInc counts up and wraps after limit, atomicDec counts down and wraps from zero.
extern "C" __global__ void tickets(unsigned* counters, unsigned* up, unsigned* down, int n, unsigned limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    up[i] = atomicInc(&counters[0], limit);
    down[i] = atomicDec(&counters[1], limit);
}

// A chain: each thread leaves its number and takes the one before it; together they are all numbers, once each.
extern "C" __global__ void chain(int* last, unsigned long long* last64, int* taken, unsigned long long* taken64,
                                 int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    taken[i] = atomicExch(last, i);
    taken64[i] = atomicExch(last64, (unsigned long long)i << 33);
}

// The same in shared memory: extremes of each block, and a count of the numbers of each residue by compare-and-swap.
extern "C" __global__ void in_shared(const long long* x, long long* low, long long* high, unsigned* counts, int n) {
    __shared__ long long extremes[2];
    __shared__ unsigned residues[5];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) extremes[0] = 0x7fffffffffffffff, extremes[1] = -0x7fffffffffffffff;
    if (threadIdx.x < 5) residues[threadIdx.x] = 0;
    __syncthreads();  // the start values are in place
    if (i < n) {
        atomicMin(&extremes[0], x[i]);
        atomicMax(&extremes[1], x[i]);
        unsigned* word = &residues[(unsigned long long)x[i] % 5];
        unsigned seen = *(volatile unsigned*)word, before;
        while ((before = atomicCAS(word, seen, seen + 1)) != seen) seen = before;
    }
    __syncthreads();  // all threads have contributed
    if (threadIdx.x == 0) low[blockIdx.x] = extremes[0], high[blockIdx.x] = extremes[1];
    if (threadIdx.x < 5) counts[blockIdx.x * 5 + threadIdx.x] = residues[threadIdx.x];
}
