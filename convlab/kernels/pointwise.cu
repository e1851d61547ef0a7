// pointwise: a 1×1 convolution is a matrix product already, w (K × C) times each image (C × P·Q), in place.
//
// Idea             the register tile of gemm_register, whose right factor is the input itself: nothing to lay out.
//                  A stride only leaves pixels out.
// Parallelisation  a block of 8×8 threads computes BM filters at BN pixels of one image; BM is 16, 32 or 64, as few
//                  as hold K, since what is left over is computed as zeros.
// Expected limit   memory while C and K are small: a 1×1 filter does no arithmetic but over channels.
// Prediction       loads BM times fewer input elements than naive, or K times where K is smaller: 16 times on the
//                  course's layer of 16 filters.
// Honest negatives few filters leave little to reuse in registers: with 16, a thread reads 2 + 8 elements for 16
//                  multiply-adds. At stride 2, half of each sector is loaded in vain.
#include "common.cuh"

#ifndef BM
#define BM 64  // filters
#endif
#ifndef BN
#define BN 64  // pixels
#endif
#ifndef BK
#define BK 8  // channels
#endif
#define TM (BM / 8)
#define TN (BN / 8)
#define THREADS 64
#define PITCH (BM + 4)  // a warp stores 8 columns of 4 rows: 4 words more spread them over all 32 banks
static_assert(BM % 8 == 0 && BN % 8 == 0, "8x8 threads have to fill the tile");
static_assert(THREADS == BN, "a thread loads one pixel, in every channel: so it divides by Q only once");

extern "C" __global__ void __launch_bounds__(THREADS)
conv_pointwise(const float* __restrict__ x, const float* __restrict__ w,
               const float* __restrict__ bias,  // null: no bias
               float* __restrict__ y, Conv v) {
    __shared__ float As[BK][PITCH];  // [c][k]: w transposed
    __shared__ float Bs[BK][BN];     // [c][pixel]
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 8 + tx;
    int k0 = blockIdx.y * BM, pixel0 = blockIdx.x * BN, n = blockIdx.z, pixels = v.P * v.Q;
    int pixel = pixel0 + thread;  // that this thread loads
    size_t plane = (size_t)v.H * v.W;
    const float* mine = x + n * v.C * plane + (size_t)(pixel / v.Q * v.stride_h) * v.W + pixel % v.Q * v.stride_w;

    float sum[TM][TN] = {};  // filters ty·TM + i, pixels tx + 8·j
    for (int c0 = 0; c0 < v.C; c0 += BK) {
        for (int i = thread; i < BM * BK; i += THREADS) {
            int k = i / BK, c = i % BK;
            As[c][k] = k0 + k < v.K && c0 + c < v.C ? w[(size_t)(k0 + k) * v.C + c0 + c] : 0.0f;
        }
        for (int c = 0; c < BK; ++c)
            Bs[c][thread] = c0 + c < v.C && pixel < pixels ? mine[(c0 + c) * plane] : 0.0f;
        __syncthreads();  // or a fast warp reads elements that a slow one has not stored yet
        for (int c = 0; c < BK; ++c) {
            float row[TN];
            for (int j = 0; j < TN; ++j) row[j] = Bs[c][tx + j * 8];
            for (int i = 0; i < TM; ++i) {
                float left = As[c][ty * TM + i];
                for (int j = 0; j < TN; ++j) sum[i][j] += left * row[j];
            }
        }
        __syncthreads();  // or a fast warp overwrites this step's elements, which a slow one still reads
    }
    for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) {
            int k = k0 + ty * TM + i, at = pixel0 + tx + j * 8;
            if (k < v.K && at < pixels) y[((size_t)n * v.K + k) * pixels + at] = sum[i][j] + (bias ? bias[k] : 0.0f);
        }
}
