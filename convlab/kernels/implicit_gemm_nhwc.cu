// implicit_gemm_nhwc: implicit GEMM with the channels last, so that both factors are read 16 bytes at a time.
//
// Idea             with k = (r, s, c) four neighbouring rows of X_col are four channels of one pixel, and they lie side
//                  by side in memory, as the weights do. Wherever the channels of a group are a multiple of 4, one
//                  load brings four; two lanes side by side fill a sector of 32 bytes, in x, in w and in y.
// Parallelisation  as implicit_gemm, but the 4 warps are 2×2, each with BM / 2 filters × BN / 2 pixels, and two
//                  lanes share a pixel: each has every other four of the filters, and they store 32 bytes together.
// Expected limit   multiply-adds; finding addresses costs half of what it does in implicit_gemm.
// Prediction       3.5 times fewer load requests than implicit_gemm. At stride 2 half as many input sectors, since no
//                  sector is fetched for every other element of it; at stride 1 as many.
// Honest negatives 3 channels, as in first layers, are read one by one: four times the requests, each of them spread
//                  out; and whoever has NCHW pays for two conversions.
#include "rows.cuh"
#include "window.cuh"

#ifndef BM
#define BM 64                          // filters of a block
#endif
#define BN 128                         // pixels of a block
#define BK 8                           // rows of X_col in a stage
#define THREADS 128
#define TM (BM / 4)                    // filters of a thread
#define TN 4                           // pixels of a thread
static_assert(TM * TN * THREADS == BM * BN, "the threads' outputs are the block's");
static_assert(BK == 8 && 2 * BM <= THREADS, "two threads bring one filter's stage, each with one load of 16 bytes");
static_assert(BN == THREADS, "two threads bring one pixel's stage, and then that of the pixel BN / 2 further on");
static_assert(TM % 4 == 0, "a thread stores its filters four at a time");

// Where a row of X_col comes from: k = (r·S + s)·channels + c.
struct Tap {
    int r, s, c;
};

__device__ Tap tap_at(int k, int S, int channels) {
    return {k / channels / S, k / channels % S, k % channels};
}

// The tap that lies `by` further on: digits are added and carried, so that nothing is divided.
__device__ Tap after(Tap tap, Tap by, int S, int channels) {
    int c = tap.c + by.c, s = tap.s + by.s, r = tap.r + by.r;
    if (c >= channels) { c -= channels; ++s; }
    if (s >= S) { s -= S; ++r; }
    return {r, s, c};
}

// An element of X_col, null where it is padding.
__device__ const float* find(const Window<float>& window, Tap tap, const Conv& v) {
    unsigned h = window.top + tap.r * v.dilation_h, col = window.left + tap.s * v.dilation_w;
    bool inside = tap.r < v.R && h < v.H && col < v.W;                  // unsigned, -1 is larger than any size
    return inside ? window.image + (size_t)(h * v.W + col) * v.C + tap.c : nullptr;
}

// Four rows of X_col in one column: four channels of a pixel, or one by one where channels do not come in fours.
__device__ float4 find_four(const Window<float>& window, Tap tap, const Conv& v, int channels, bool wide) {
    float four[4] = {};
    for (int i = 0; i < 4; ++i) {
        const float* at = find(window, tap, v);
        if (wide) return at ? *(const float4*)at : float4{};
        if (at) four[i] = *at;
        tap = after(tap, {0, 0, 1}, v.S, channels);
    }
    return {four[0], four[1], four[2], four[3]};
}

// Four elements of a row of W or of a column of X_col become four rows of a stage.
template <int PITCH>
__device__ void transpose(float (*stage)[PITCH], int k, int at, float4 four) {
    stage[k][at] = four.x;
    stage[k + 1][at] = four.y;
    stage[k + 2][at] = four.z;
    stage[k + 3][at] = four.w;
}

extern "C" __global__ void __launch_bounds__(THREADS)
conv_implicit_gemm_nhwc(const float* __restrict__ x, const float* __restrict__ w,
                        const float* __restrict__ bias,  // null: no bias
                        float* __restrict__ y, Conv v) {
    __shared__ __align__(16) float As[2][BK][BM + 4];  // [stage][k][m]: W transposed
    __shared__ float Bs[2][BK][BN + 4];                // [stage][k][n]: X_col; each 4 keeps stores apart
    int t = threadIdx.x, half = t % 2, own = t / 2;   // it brings one half of the stage of filter and pixel `own`
    int filters = v.K / v.groups, channels = v.C / v.groups, gemm_k = channels * v.R * v.S;  // of a group
    int pixels = v.N * v.P * v.Q;                                                            // of all images
    int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN, group = blockIdx.z;

    Window<float> windows[2];
    for (int i = 0; i < 2; ++i) windows[i] = window_of(n0 + own + i * (BN / 2), x + group * channels, v);
    const float* filter = w + ((size_t)group * filters + m0 + own) * gemm_k;
    int length = m0 + own < filters ? gemm_k : 0, k = half * 4;
    Tap tap = tap_at(k, v.S, channels), step = tap_at(BK, v.S, channels);
    bool wide_w = rows_of_four(w, gemm_k), wide_x = rows_of_four(x, channels);

    float4 a = load4(filter, k, length, wide_w), b[2];  // the next stage, on its way
    for (int i = 0; i < 2; ++i) b[i] = find_four(windows[i], tap, v, channels, wide_x);
    int m = t / 64 * (BM / 2) + half * 4, n = t / 32 % 2 * (BN / 2) + t % 32 / 2;  // that this thread computes
    float sum[TM][TN] = {};
    for (int done = 0, stage = 0; done < gemm_k; done += BK, stage ^= 1) {
        if (own < BM) transpose(As[stage], k, own, a);
        for (int i = 0; i < 2; ++i) transpose(Bs[stage], k, own + i * (BN / 2), b[i]);
        // Or a fast warp reads elements of this stage that a slow one has not stored yet; or overwrites those of the
        // other stage, which a slow one still reads, in the next step: with two stages, one barrier keeps off both.
        __syncthreads();
        if (done + BK < gemm_k) {                     // under way while the sums are computed
            a = load4(filter, done + BK + k, length, wide_w);
            tap = after(tap, step, v.S, channels);
            for (int i = 0; i < 2; ++i) b[i] = find_four(windows[i], tap, v, channels, wide_x);
        }
        for (int i = 0; i < BK; ++i) {
            float pixel[TN];
            for (int j = 0; j < TN; ++j) pixel[j] = Bs[stage][i][n + 16 * j];
            for (int f = 0; f < TM; f += 4) {
                float4 weight = *(const float4*)&As[stage][i][m + 2 * f];
                for (int j = 0; j < TN; ++j) {
                    sum[f][j] += weight.x * pixel[j];
                    sum[f + 1][j] += weight.y * pixel[j];
                    sum[f + 2][j] += weight.z * pixel[j];
                    sum[f + 3][j] += weight.w * pixel[j];
                }
            }
        }
    }

    bool wide_y = rows_of_four(y, filters), wide_bias = rows_of_four(bias, filters);
    for (int f = 0; f < TM; f += 4) {
        int first = m0 + m + 2 * f;
        float4 add = bias ? load4(bias + group * filters, first, filters, wide_bias) : float4{};
        for (int j = 0; j < TN; ++j) {
            int pixel = n0 + n + 16 * j;
            if (pixel < pixels)
                store4(y + (size_t)pixel * v.K + group * filters, first, filters, wide_y,
                       {sum[f][j] + add.x, sum[f + 1][j] + add.y, sum[f + 2][j] + add.z, sum[f + 3][j] + add.w});
        }
    }
}
