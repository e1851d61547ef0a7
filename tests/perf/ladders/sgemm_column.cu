// A thread computes a column of TM elements of Y = A · B: each element of B that it reads from shared memory serves TM
// multiply-adds. M, N and K are multiples of the tiles.

#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define THREADS (BM / TM * BN)
static_assert(BM * BK == THREADS && BK * BN == THREADS, "each thread loads one element of either tile");

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_column(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    __shared__ float As[BM][BK];
    __shared__ float Bs[BK][BN];
    int thread = threadIdx.x, column = thread % BN, row = thread / BN * TM;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;

    float sum[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[thread / BK][thread % BK] = a[(size_t)(m0 + thread / BK) * K + k0 + thread % BK];
        Bs[thread / BN][column] = b[(size_t)(k0 + thread / BN) * N + n0 + column];
        __syncthreads();  // both tiles are complete before anybody reads them
        for (int k = 0; k < BK; ++k) {
            float right = Bs[k][column];
            for (int i = 0; i < TM; ++i) sum[i] += As[row + i][k] * right;
        }
        __syncthreads();  // everybody has read them before the next step overwrites them
    }
    for (int i = 0; i < TM; ++i) y[(size_t)(m0 + row + i) * N + n0 + column] = sum[i];
}
