// gemm_warp: the register tile, ordered by warps, fed 16 bytes at a time from two buffers in turn.
//
// Idea             (1) a warp owns a compact tile of 32×64, so that its lanes read few distinct words and (2) each
//                  reads four of them at once; (3) while a step multiplies, the next step's elements are under way.
// Parallelisation  a block of 2×2 warps computes 64×128 elements of Y; a warp's lanes form 4×8, and each lane
//                  computes 8×8 elements in four quads of 4×4. blockIdx.z is the product, of several.
// Expected limit   the multiply-add units.
// Prediction       than gemm_register: half the barriers, one a step instead of two; 5.3 times fewer load requests (4
//                  for the 16 bytes, 4/3 for the wider tile); a quarter of the reads of shared memory, 16 bytes each.
// Honest negatives rows whose length is no multiple of 4 cannot be loaded 16 bytes at a time: they fall back to single
//                  elements, with four times the requests. Two buffers cost twice the shared memory.
#include "rows.cuh"

#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 128
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
#define WM (4 * TM)  // a warp's tile: 4×8 lanes
#define WN (8 * TN)
#define THREADS ((BM / WM) * (BN / WN) * 32)
#define BLOCKS (THREADS > 384 ? 1 : 384 / THREADS)  // on an SM at least: leaves 170 registers a thread, and none spills
#define LOADS_A (BM * BK / 4 / THREADS)  // of 16 bytes, for each thread
#define LOADS_B (BK * BN / 4 / THREADS)
#define PITCH (BM + 4)  // a warp stores 2 groups of 16 rows: 4 words more put them 16 banks apart
static_assert(TM % 4 == 0 && TN % 4 == 0 && BK % 4 == 0, "16 bytes are four elements");
static_assert(BM % WM == 0 && BN % WN == 0, "the warps' tiles have to fill the block's tile");
static_assert(LOADS_A * THREADS * 4 == BM * BK && LOADS_B * THREADS * 4 == BK * BN,
              "every thread has to load as much as the others");
static_assert(2 * BK * (PITCH + BN) * 4 <= 48 * 1024, "a block has at most 48 KB of static shared memory");

__device__ void read(float* to, const float* from) {
    float4 v = *(const float4*)from;
    to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

__device__ __forceinline__ void multiply(const float* __restrict__ a, const float* __restrict__ b,
                                         const float* __restrict__ bias, float* __restrict__ y, int M, int N, int K) {
    __shared__ __align__(16) float As[2][BK][PITCH];  // [buffer][k][m]: transposed
    __shared__ __align__(16) float Bs[2][BK][BN];     // [buffer][k][n]
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
    // A lane's first quad; its next lie at m + 16 and n + 32. Shared memory serves 16-byte reads of eight lanes at a
    // time: on diagonals, any eight lanes hold all 4 quads of rows and all 8 of columns.
    int m = warp / (BN / WN) * WM + (lane + lane / 8) % 4 * 4;
    int n = warp % (BN / WN) * WN + lane % 8 * 4;
    bool wide_a = rows_of_four(a, K), wide_b = rows_of_four(b, N), wide_y = rows_of_four(y, N);

    float4 next_a[LOADS_A], next_b[LOADS_B];
    auto fetch = [&](int k0) {  // the next step's elements, into registers
        for (int i = 0; i < LOADS_A; ++i) {
            int row = m0 + (thread + i * THREADS) / (BK / 4), k = k0 + (thread + i * THREADS) % (BK / 4) * 4;
            next_a[i] = load4(a + (size_t)row * K, k, row < M ? K : 0, wide_a);
        }
        for (int i = 0; i < LOADS_B; ++i) {
            int k = k0 + (thread + i * THREADS) / (BN / 4), column = n0 + (thread + i * THREADS) % (BN / 4) * 4;
            next_b[i] = load4(b + (size_t)k * N, column, k < K ? N : 0, wide_b);
        }
    };

    float sum[TM][TN] = {};
    fetch(0);
    for (int k0 = 0, buffer = 0; k0 < K; k0 += BK, buffer ^= 1) {
        for (int i = 0; i < LOADS_A; ++i) {
            int row = (thread + i * THREADS) / (BK / 4), k = (thread + i * THREADS) % (BK / 4) * 4;
            As[buffer][k][row] = next_a[i].x, As[buffer][k + 1][row] = next_a[i].y;
            As[buffer][k + 2][row] = next_a[i].z, As[buffer][k + 3][row] = next_a[i].w;
        }
        for (int i = 0; i < LOADS_B; ++i) ((float4*)Bs[buffer])[thread + i * THREADS] = next_b[i];
        // Or a fast warp reads elements of this buffer that a slow one has not stored yet; or overwrites those of the
        // other, which a slow one still reads, in the next step: with two buffers, one barrier keeps off both.
        __syncthreads();
        if (k0 + BK < K) fetch(k0 + BK);
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float left[TM], right[TN];
            for (int i = 0; i < TM; i += 4) read(&left[i], &As[buffer][k][m + i * 4]);
            for (int j = 0; j < TN; j += 4) read(&right[j], &Bs[buffer][k][n + j * 8]);
            for (int i = 0; i < TM; ++i)
                for (int j = 0; j < TN; ++j) sum[i][j] += left[i] * right[j];
        }
    }
    for (int i = 0; i < TM; ++i) {
        int row = m0 + m + i % 4 + i / 4 * 16;
        if (row >= M) continue;
        float add = bias ? bias[row] : 0.0f;
        for (int j = 0; j < TN; j += 4)
            store4(y + (size_t)row * N, n0 + n + j * 8, N, wide_y,
                  make_float4(sum[i][j] + add, sum[i][j + 1] + add, sum[i][j + 2] + add, sum[i][j + 3] + add));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
gemm_warp(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    multiply(a, b, nullptr, y, M, N, K);
}

// One product for each image and group, w[g] · columns[image][g], with a bias for each row: convolution after im2col.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
gemm_warp_batched(const float* __restrict__ w, const float* __restrict__ columns,
                  const float* __restrict__ bias,  // null: no bias
                  float* __restrict__ y, int M, int N, int K, int groups, int first_image) {
    size_t z = blockIdx.z, g = z % groups;
    multiply(w + g * M * K, columns + z * K * N, bias ? bias + g * M : nullptr,
             y + ((size_t)first_image * groups + z) * M * N, M, N, K);
}
