// separable_fused: a depthwise and a 1×1 convolution in one kernel.
//
// Idea             the 1×1 convolution needs all channels of a pixel, and nothing of its neighbours: a block computes
//                  depthwise what its pixels need, a chunk of channels at a time, into shared memory, and multiplies
//                  from there. What lies between the two never sees global memory.
// Parallelisation  a block of BK warps computes 32 strips (a lane each, TP pixels) for BM filters. In each chunk a warp
//                  makes one channel of the strips; then it adds the chunk to its TM filters.
// Expected limit   the multiply-adds of the 1×1 convolution, once C and K fill the tiles; DRAM before that.
// Prediction       half the store sectors of the two kernels, and 1.4 times fewer global bytes: what goes between them
//                  is stored once and loaded once less.
// Honest negatives more than BM filters need further blocks, and each makes the depthwise part again; 128 registers and
//                  512 threads fill an SM with one block; two barriers a chunk, and nothing to overlap the loads with.
#include "strip.cuh"

#ifndef BM
#define BM 64  // filters of a block; 16 or 32 where there are no more
#endif
#ifndef BK
#define BK 16  // channels of a chunk, and warps of a block
#endif
#define LANES 32
#define TM (BM / BK)

static_assert(BM % BK == 0, "each of the BK warps takes as many filters");

// K: filters of the 1×1 convolution; v.K: channels between the two. The template's sizes are those of add_strip.
template <int R, int S, int U>
__device__ void separable(const float* x, const float* w_depthwise, const float* bias_depthwise,
                          const float* w_pointwise, const float* bias_pointwise, float* y, const Conv& v, int K) {
    __shared__ float between[BK][TP][LANES];          // [channel][t][strip]
    __shared__ __align__(16) float weights[BM][BK];   // [filter][channel]: all lanes read the same four channels
    int lane = threadIdx.x, warp = threadIdx.y;
    int strips = (v.P + TP - 1) / TP;
    int unit = blockIdx.x * LANES + lane;             // as in depthwise.cu, of one channel
    int n = unit / v.Q / strips, p = unit / v.Q % strips * TP, q = unit % v.Q;
    int k0 = blockIdx.y * BM;

    float sum[TM][TP] = {};                           // [k0 + warp·TM ..][p ..]
    for (int m0 = 0; m0 < v.K; m0 += BK) {
        float strip[TP] = {};                         // zeros beyond the last image and the last channel
        int m = m0 + warp;
        if (n < v.N && m < v.K) {
            for (int t = 0; t < TP; ++t) strip[t] = bias_depthwise ? bias_depthwise[m] : 0.0f;
            const float* plane = x + (size_t)(n * v.C + m / (v.K / v.C)) * v.H * v.W;
            int top = p;
            asm volatile("" : "+r"(top));  // or the compiler makes all addresses once, and has no registers for them
            add_strip<R, S, U>(plane, w_depthwise + (size_t)m * v.R * v.S, top, q, v, strip);
        }
        #pragma unroll
        for (int t = 0; t < TP; ++t) between[warp][t][lane] = strip[t];
        for (int i = warp * LANES + lane; i < BK * BM; i += BK * LANES) {
            int channel = i % BK, filter = i / BK;
            bool inside = k0 + filter < K && m0 + channel < v.K;
            weights[filter][channel] = inside ? w_pointwise[(size_t)(k0 + filter) * v.K + m0 + channel] : 0.0f;
        }
        __syncthreads();  // or a fast warp reads elements of the chunk that a slow one has not stored yet
        #pragma unroll
        for (int channel = 0; channel < BK; ++channel) {
            float pixel[TP];
            #pragma unroll
            for (int t = 0; t < TP; ++t) pixel[t] = between[channel][t][lane];
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int t = 0; t < TP; ++t) sum[i][t] += weights[warp * TM + i][channel] * pixel[t];
        }
        __syncthreads();  // or a fast warp overwrites this chunk, which a slow one still reads
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        int k = k0 + warp * TM + i;
        if (n >= v.N || k >= K) break;
        float bias = bias_pointwise ? bias_pointwise[k] : 0.0f;
        #pragma unroll
        for (int t = 0; t < TP; ++t)
            if (p + t < v.P) y[((size_t)(n * K + k) * v.P + p + t) * v.Q + q] = sum[i][t] + bias;
    }
}

extern "C" __global__ void __launch_bounds__(BK * LANES, 1)
separable_3x3(const float* __restrict__ x, const float* __restrict__ w_depthwise,
              const float* __restrict__ bias_depthwise, const float* __restrict__ w_pointwise,
              const float* __restrict__ bias_pointwise, float* __restrict__ y, Conv v, int K) {
    separable<3, 3, 1>(x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise, y, v, K);
}

extern "C" __global__ void __launch_bounds__(BK * LANES, 1)
separable_3x3_stride2(const float* __restrict__ x, const float* __restrict__ w_depthwise,
                      const float* __restrict__ bias_depthwise, const float* __restrict__ w_pointwise,
                      const float* __restrict__ bias_pointwise, float* __restrict__ y, Conv v, int K) {
    separable<3, 3, 2>(x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise, y, v, K);
}

extern "C" __global__ void __launch_bounds__(BK * LANES, 1)
separable_any(const float* __restrict__ x, const float* __restrict__ w_depthwise,
              const float* __restrict__ bias_depthwise, const float* __restrict__ w_pointwise,
              const float* __restrict__ bias_pointwise, float* __restrict__ y, Conv v, int K) {
    separable<0, 0, 0>(x, w_depthwise, bias_depthwise, w_pointwise, bias_pointwise, y, v, K);
}
