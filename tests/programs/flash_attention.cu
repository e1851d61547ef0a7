// Flash attention: softmax(Q K^T / sqrt(D)) V in one pass over the keys, without the matrix of scores.

constexpr int D = 32;      // the length of a query, a key, a value
constexpr int ROWS = 64;   // queries of a block, one a thread
constexpr int KEYS = 16;   // keys and values that are in shared memory at a time

// Q, K, V and the result are (heads, n, D); with causal set, query i sees the keys 0..i only.
extern "C" __global__ void __launch_bounds__(ROWS)
attention(const float* q, const float* k, const float* v, float* out, int n, bool causal) {
    __shared__ float keys[KEYS][D], values[KEYS][D];
    int row = blockIdx.x * ROWS + threadIdx.x;
    size_t head = (size_t)blockIdx.y * n * D;

    float query[D], sum[D] = {};
    for (int d = 0; d < D; ++d) query[d] = row < n ? q[head + row * D + d] * rsqrtf(D) : 0.0f;
    float highest = -1e30f, total = 0.0f;
    int stop = causal ? min(n, (int)(blockIdx.x + 1) * ROWS) : n;  // no query of the block sees more
    for (int first = 0; first < stop; first += KEYS) {
        for (int i = threadIdx.x; i < KEYS * D; i += ROWS) {
            bool inside = first + i / D < n;
            keys[i / D][i % D] = inside ? k[head + first * D + i] : 0.0f;
            values[i / D][i % D] = inside ? v[head + first * D + i] : 0.0f;
        }
        __syncthreads();  // keys and values are complete
        int count = min(KEYS, n - first);
        if (causal) count = min(count, row - first + 1);
        for (int j = 0; j < count; ++j) {
            float score = 0.0f;
            for (int d = 0; d < D; ++d) score += query[d] * keys[j][d];
            float higher = fmaxf(highest, score);
            float keep = __expf(highest - higher), weight = __expf(score - higher);
            total = total * keep + weight;
            for (int d = 0; d < D; ++d) sum[d] = sum[d] * keep + weight * values[j][d];
            highest = higher;
        }
        __syncthreads();  // everybody is done with them
    }
    if (row < n)
        for (int d = 0; d < D; ++d) out[head + row * D + d] = sum[d] / total;
}
