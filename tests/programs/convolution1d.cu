// Convolution of a signal: the filter lies in constant memory, which a warp reads at one address for all its lanes.

constexpr int TAPS = 7, RADIUS = TAPS / 2;
constexpr int THREADS = 64;

__constant__ float filter[TAPS] = {0.125f, -0.5f, 0.75f, 2.0f, -1.25f, 0.375f, 0.0625f};
__constant__ int gain = 3;

extern "C" __global__ void convolve_naive(const float* x, float* y, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < TAPS; ++k) {
        int j = i + k - RADIUS;
        if (j >= 0 && j < n) sum += x[j] * filter[k];
    }
    y[i] = sum * gain;
}

extern "C" __global__ void convolve_shared(const float* x, float* y, int n) {
    __shared__ float tile[THREADS + 2 * RADIUS];
    int first = blockIdx.x * THREADS - RADIUS;  // in the signal, of what the block reads
    for (int j = threadIdx.x; j < THREADS + 2 * RADIUS; j += THREADS) {
        int i = first + j;
        tile[j] = i >= 0 && i < n ? x[i] : 0.0f;
    }
    __syncthreads();
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) sum += tile[threadIdx.x + k] * filter[k];
    y[i] = sum * gain;
}

// Lanes that read different constants: allowed, and slower on a GPU.
extern "C" __global__ void read_filter(float* out, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = filter[i % TAPS];
}
