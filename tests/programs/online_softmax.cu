// Online softmax: maximum and sum in one pass, because a sum can be corrected when the maximum grows.

constexpr float NOTHING = -1e30f;  // below every score; finite, so that NOTHING - NOTHING is 0 and not a NaN

struct Running {
    float highest, sum;  // sum of exp(x - highest)
};

__device__ Running combined(Running a, Running b) {
    float highest = fmaxf(a.highest, b.highest);
    return {highest, a.sum * expf(a.highest - highest) + b.sum * expf(b.highest - highest)};
}

// One block a row; dynamic shared memory holds one Running a thread. blockDim.x is a power of two.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    extern __shared__ Running partial[];
    const float* row = x + blockIdx.x * columns;
    Running r = {NOTHING, 0.0f};
    for (int i = threadIdx.x; i < columns; i += blockDim.x) r = combined(r, {row[i], 1.0f});
    partial[threadIdx.x] = r;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();  // the upper half is final
        if (threadIdx.x < half)
            partial[threadIdx.x] = combined(partial[threadIdx.x], partial[threadIdx.x + half]);
    }
    __syncthreads();  // so is the row's result
    r = partial[0];
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = expf(row[i] - r.highest) / r.sum;
}
