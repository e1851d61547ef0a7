// Layer norm: mean and variance of a row by Welford's rule, merged over lanes, then over warps.

struct Moments {
    float count, mean, squares;  // squares: the sum of squared distances from the mean
};

__device__ Moments merged(Moments a, Moments b) {
    float count = a.count + b.count;
    if (count == 0.0f) return a;
    float delta = b.mean - a.mean, part = b.count / count;
    return {count, a.mean + delta * part, a.squares + b.squares + delta * delta * a.count * part};
}

__device__ Moments merged_over_warp(Moments m) {
    for (int offset = 16; offset > 0; offset /= 2) {
        Moments other = {__shfl_down_sync(0xffffffff, m.count, offset), __shfl_down_sync(0xffffffff, m.mean, offset),
                         __shfl_down_sync(0xffffffff, m.squares, offset)};
        m = merged(m, other);
    }
    return m;
}

// One block a row: y = (x - mean) / sqrt(variance + epsilon) * gain + bias.
extern "C" __global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y,
                                      int columns, float epsilon) {
    __shared__ Moments of_warp[32];
    const float* row = x + blockIdx.x * columns;
    Moments m = {};
    for (int i = threadIdx.x; i < columns; i += blockDim.x) m = merged(m, {1.0f, row[i], 0.0f});
    m = merged_over_warp(m);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) of_warp[warp] = m;
    __syncthreads();  // every warp has written its moments
    if (warp == 0) {
        m = merged_over_warp(lane < blockDim.x / 32 ? of_warp[lane] : Moments{});
        if (lane == 0) of_warp[0] = m;
    }
    __syncthreads();  // the row's moments are in place
    m = of_warp[0];
    float scale = rsqrtf(m.squares / m.count + epsilon);
    for (int i = threadIdx.x; i < columns; i += blockDim.x)
        y[blockIdx.x * columns + i] = (row[i] - m.mean) * scale * gain[i] + bias[i];
}
