// A thread computes TM × TN elements of Y = A · B, and everything moves 16 bytes at a time; A's tile is transposed on
// its way into shared memory, so that a thread's rows lie side by side. M, N and K are multiples of the tiles.

#define BM 128
#define BN 128
#define BK 8
#define TM 8
#define TN 8
#define THREADS (BM / TM * (BN / TN))
static_assert(BM * BK == 4 * THREADS && BK * BN == 4 * THREADS, "each thread loads four elements of either tile");

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm_vector(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    __shared__ __align__(16) float As[BK][BM];
    __shared__ __align__(16) float Bs[BK][BN];
    int thread = threadIdx.x, row = thread / (BN / TN) * TM, column = thread % (BN / TN) * TN;
    int m = thread / (BK / 4), k = thread % (BK / 4) * 4;  // what it loads of A
    int l = thread / (BN / 4), n = thread % (BN / 4) * 4;  // and of B: row l, columns from n on
    a += (size_t)blockIdx.y * BM * K, b += blockIdx.x * BN;

    float sum[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 four = *(const float4*)(a + (size_t)m * K + k0 + k);
        As[k][m] = four.x, As[k + 1][m] = four.y, As[k + 2][m] = four.z, As[k + 3][m] = four.w;
        *(float4*)&Bs[l][n] = *(const float4*)(b + (size_t)(k0 + l) * N + n);
        __syncthreads();  // both tiles are complete before anybody reads them
        for (int step = 0; step < BK; ++step) {
            float left[TM], right[TN];
            for (int i = 0; i < TM; i += 4) *(float4*)(left + i) = *(const float4*)&As[step][row + i];
            for (int j = 0; j < TN; j += 4) *(float4*)(right + j) = *(const float4*)&Bs[step][column + j];
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();  // everybody has read them before the next step overwrites them
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; j += 4)
            *(float4*)(y + (size_t)(blockIdx.y * BM + row + i) * N + blockIdx.x * BN + column + j) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
}
