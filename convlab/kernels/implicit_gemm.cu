// implicit_gemm: im2col's product W · X_col, with a right factor that is never stored.
//
// Idea             a tile of X_col is made in shared memory just before it is used: an element's address follows from
//                  its row (c, r, s) and its column (n, p, q). Each thread fills one column, which it takes apart
//                  once; the rows come in order, so that counting replaces dividing.
// Parallelisation  a block computes BM filters × BN pixels of one group (blockIdx.z), the pixels of all images in one
//                  line. Each of its 4 warps has BM / 4 filters, each lane TN pixels 32 apart: the lanes of a warp
//                  read the same weights (a broadcast, 16 bytes wide) and neighbouring pixels (no bank conflict).
// Expected limit   multiply-adds from 64 filters on: 64 of a thread for 8 loads from shared memory. With 16 filters
//                  half the instructions find addresses: 15 for each element of X_col, which is used BM times.
// Prediction       of im2col's matrix, 9 times the input on 3×3, nothing is written or read: 10 times fewer sectors
//                  stored, 2.5 times fewer bytes of global memory in all. Against naive, with 16 filters: 16 times
//                  fewer input sectors, since one load serves them all, and 2.5 times fewer instructions.
// Honest negatives neighbouring windows overlap, and each tap of an input element is fetched again, from L1 at best;
//                  what does not fill BM, BN or BK is computed as zeros; small outputs make few blocks, and nobody
//                  splits their sums.
#include "column.cuh"
#include "rows.cuh"

#ifndef BM
#define BM 64                          // filters of a block
#endif
#define BN 128                         // pixels of a block
#define BK 8                           // rows of X_col in a stage
#define THREADS 128
#define TM (BM / (THREADS / 32))       // filters of a thread
#define TN (BN / 32)                   // pixels of a thread
static_assert(BN == THREADS, "each thread fills one column of X_col");
static_assert(BK == 8 && 2 * BM <= THREADS, "two threads bring one filter's stage, each with one load of 16 bytes");
static_assert(TM % 4 == 0, "a thread reads its weights from shared memory four at a time");

extern "C" __global__ void __launch_bounds__(THREADS)
conv_implicit_gemm(const float* __restrict__ x, const float* __restrict__ w,
                   const float* __restrict__ bias,  // null: no bias
                   float* __restrict__ y, Conv v) {
    __shared__ __align__(16) float As[2][BK][BM + 4];  // [stage][k][m]: W transposed; the 4 keep its stores apart
    __shared__ float Bs[2][BK][BN];                    // [stage][k][n]: X_col
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int filters = v.K / v.groups, gemm_k = v.C / v.groups * v.R * v.S;  // of a group, and elements of each
    int plane = v.P * v.Q, pixels = v.N * plane;                        // of all images
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, group = blockIdx.z;

    Column column = column_of(n0 + t, group, x, v);
    int m = t / 2, k = t % 2 * 4;                     // of the weights that this thread brings
    const float* filter = w + ((size_t)group * filters + m0 + m) * gemm_k;
    int length = m0 + m < filters ? gemm_k : 0;
    bool wide = rows_of_four(w, gemm_k);

    float4 a = load4(filter, k, length, wide);        // the next stage, on its way
    float b[BK];
    for (int i = 0; i < BK; ++i) b[i] = column.next(v);
    float sum[TM][TN] = {};
    for (int done = 0, stage = 0; done < gemm_k; done += BK, stage ^= 1) {
        if (m < BM) {
            As[stage][k][m] = a.x;
            As[stage][k + 1][m] = a.y;
            As[stage][k + 2][m] = a.z;
            As[stage][k + 3][m] = a.w;
        }
        for (int i = 0; i < BK; ++i) Bs[stage][i][t] = b[i];
        // Or a fast warp reads elements of this stage that a slow one has not stored yet; or overwrites those of the
        // other stage, which a slow one still reads, in the next step: with two stages, one barrier keeps off both.
        __syncthreads();
        if (done + BK < gemm_k) {                     // under way while the sums are computed
            a = load4(filter, done + BK + k, length, wide);
            for (int i = 0; i < BK; ++i) b[i] = column.next(v);
        }
        for (int i = 0; i < BK; ++i) {
            float pixel[TN];
            for (int j = 0; j < TN; ++j) pixel[j] = Bs[stage][i][lane + 32 * j];
            for (int f = 0; f < TM; f += 4) {
                float4 weight = *(const float4*)&As[stage][i][warp * TM + f];
                for (int j = 0; j < TN; ++j) {
                    sum[f][j] += weight.x * pixel[j];
                    sum[f + 1][j] += weight.y * pixel[j];
                    sum[f + 2][j] += weight.z * pixel[j];
                    sum[f + 3][j] += weight.w * pixel[j];
                }
            }
        }
    }

    for (int j = 0; j < TN; ++j) {
        int pixel = n0 + lane + 32 * j;
        if (pixel >= pixels) break;
        float* image = y + ((size_t)(pixel / plane) * v.K + group * filters) * plane + pixel % plane;
        for (int f = 0; f < TM; ++f) {
            int m = m0 + warp * TM + f;
            if (m < filters) image[(size_t)m * plane] = sum[f][j] + (bias ? bias[group * filters + m] : 0.0f);
        }
    }
}
