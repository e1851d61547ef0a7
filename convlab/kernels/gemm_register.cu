// gemm_register: a thread computes TM × TN elements of Y = A · B, whose factors it keeps in registers.
//
// Idea             TM elements of a column of A and TN of a row of B, read once from shared memory, give TM·TN
//                  multiply-adds: an outer product in registers for every k.
// Parallelisation  a block computes BM × BN elements with BM/TM × BN/TN threads; blocks tile Y.
// Expected limit   the multiply-add units, as far as registers leave enough warps on a multiprocessor.
// Prediction       reads 8 times fewer shared bytes per multiply-add than gemm_tiled, (8 + 8) / 64 instead of 2
//                  elements; and loads half the sectors, since the tile is twice as wide and high.
// Honest negatives 64 sums a thread cost registers, and with them occupancy; a small Y gives few blocks, and one of
//                  16 rows leaves three quarters of each tile idle.

#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 64
#endif
#ifndef BK
#define BK 8
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#define THREADS ((BM / TM) * (BN / TN))
#define PITCH (BM + 4)  // a warp stores 8 columns of 4 rows: 4 words more spread them over all 32 banks
static_assert(BM % TM == 0 && BN % TN == 0, "the threads' tiles have to fill the block's tile");
static_assert(THREADS <= 1024, "a block has at most 1024 threads");

extern "C" __global__ void __launch_bounds__(THREADS)
gemm_register(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    __shared__ float As[BK][PITCH];  // [k][m]: transposed, so that the rows of a thread lie side by side
    __shared__ float Bs[BK][BN];     // [k][n]
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * (BN / TN) + tx;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;

    float sum[TM][TN] = {};  // rows ty·TM + i, columns tx + j·BN/TN: neighbouring lanes, neighbouring columns
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = thread; i < BM * BK; i += THREADS) {
            int m = i / BK, k = i % BK;
            As[k][m] = m0 + m < M && k0 + k < K ? a[(size_t)(m0 + m) * K + k0 + k] : 0.0f;
        }
        for (int i = thread; i < BK * BN; i += THREADS) {
            int k = i / BN, n = i % BN;
            Bs[k][n] = k0 + k < K && n0 + n < N ? b[(size_t)(k0 + k) * N + n0 + n] : 0.0f;
        }
        __syncthreads();  // or a fast warp reads elements that a slow one has not stored yet
        for (int k = 0; k < BK; ++k) {
            float row[TN];
            for (int j = 0; j < TN; ++j) row[j] = Bs[k][tx + j * (BN / TN)];
            for (int i = 0; i < TM; ++i) {
                float left = As[k][ty * TM + i];
                for (int j = 0; j < TN; ++j) sum[i][j] += left * row[j];
            }
        }
        __syncthreads();  // or a fast warp overwrites this step's elements, which a slow one still reads
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            int m = m0 + ty * TM + i, n = n0 + tx + j * (BN / TN);
            if (m < M && n < N) y[(size_t)m * N + n] = sum[i][j];
        }
}
