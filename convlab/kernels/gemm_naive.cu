// gemm_naive: one thread computes one element of Y = A · B, all three stored row by row.
//
// Idea             the definition of a matrix product as one loop over k; threads share nothing.
// Parallelisation  x over the columns n, so that the 32 lanes of a warp share a row of A and read neighbours of B;
//                  y over the rows m.
// Expected limit   the load units: two loads for one multiply-add.
// Prediction       5 sectors for the 32 multiply-adds of a warp: one of A, which all lanes read, and 4 of B. With x
//                  and y swapped it would be 33: lanes would read 32 rows of A, each in a sector of its own.
// Honest negatives every row of A is loaded N / 32 times, every column of B M times; only the caches help.

extern "C" __global__ void gemm_naive(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ y, int M, int N, int K) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    int m = blockIdx.y * blockDim.y + threadIdx.y;
    if (m >= M || n >= N) return;  // the last blocks may be larger than what is left

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
    y[(size_t)m * N + n] = sum;
}
