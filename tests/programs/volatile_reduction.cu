// Warp-synchronous reduction, the modern way: volatile shared memory, and __syncwarp between each read and write.

constexpr int THREADS = 128;

// The last warp adds 64 numbers without a block barrier. Read, then wait, then write, then wait:
// since Volta, lanes of a warp need not be at the same instruction.
__device__ void reduce_warp(volatile float* sums, int lane) {
    float sum = sums[lane] + sums[lane + 32];
    __syncwarp();
    sums[lane] = sum;
    __syncwarp();
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += sums[lane + offset];  // lanes from offset on read what nobody needs, yet inside the array
        __syncwarp();
        sums[lane] = sum;
        __syncwarp();
    }
}

// One sum for each block of 2 * THREADS elements.
extern "C" __global__ void __launch_bounds__(THREADS) reduce(const float* x, float* out, int n) {
    __shared__ float sums[THREADS];
    int i = blockIdx.x * 2 * THREADS + threadIdx.x;
    sums[threadIdx.x] = (i < n ? x[i] : 0.0f) + (i + THREADS < n ? x[i + THREADS] : 0.0f);
    __syncthreads();  // all first sums are there
    if (threadIdx.x < 64) sums[threadIdx.x] += sums[threadIdx.x + 64];
    __syncthreads();  // 64 are left
    if (threadIdx.x < 32) reduce_warp(sums, threadIdx.x);
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}
