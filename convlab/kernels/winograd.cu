// winograd: F(2×2, 3×3) in one kernel, with 16 products for four outputs where the definition has 36.
//
// Idea             four neighbouring outputs share their 4×4 input tile: transform it (32 additions) and the filter,
//                  multiply element by element, sum over the channels, and transform the sums back (24 additions).
//                  A transform serves many products: the input's all filters of a block, the output's all channels.
// Parallelisation  a block computes BK filters of BT tiles: a lane has one tile, a warp TK = 4 filters, and a thread
//                  all 16 sums of each in registers, so that the output's transform needs no other thread. Tiles
//                  of all images are numbered through along x; blockIdx.y is the group and its part of BK filters.
// Expected limit   shared memory: two loads of a warp, of 4 filters and of a tile's element, for 4 multiply-adds.
// Prediction       2 times fewer multiply-adds than naive at C = K = 64 and 1.8 times at 16: 2.25 times fewer products,
//                  less what the transforms add (an addition counts as half) and what naive leaves out at the border.
//                  No bank conflicts.
// Honest negatives only 3×3 with stride 1; additions and registers instead of multiplications, which fused
//                  multiply-adds make no dearer; a group of few filters leaves the rest of BK idle; small images give
//                  few blocks; each store touches its sectors twice; an error may grow with the largest pixel of the
//                  tile, not of the window's products alone.
#include "common.cuh"

#ifndef BK
#define BK 32  // filters of a block
#endif
#ifndef BT
#define BT 32  // tiles of a block, 2×2 outputs each
#endif
#ifndef BC
#define BC 8   // channels of a step
#endif
#define TK 4   // filters of a thread: what a float4 holds
#define THREADS (BK / TK * BT)

static_assert(BT % 32 == 0, "a warp must have one channel's tiles and one float4 of filters, or banks conflict");
static_assert(BK % TK == 0, "threads must cover the block's filters exactly");
static_assert(16 * 4 * BC * (BK + BT) <= 48 * 1024, "weights and tiles of a step must fit 48 KB of shared memory");

// G · g, for one column or row of a filter.
__device__ void transform_filter(float a, float b, float c, float* out, int pitch) {
    out[0 * pitch] = a;
    out[1 * pitch] = 0.5f * (a + b + c);
    out[2 * pitch] = 0.5f * (a - b + c);
    out[3 * pitch] = c;
}

// B^T · d, in place, for one column or row of an input tile.
__device__ void transform_input(float* d, int pitch) {
    float a = d[0 * pitch], b = d[1 * pitch], c = d[2 * pitch], e = d[3 * pitch];
    d[0 * pitch] = a - c;
    d[1 * pitch] = b + c;
    d[2 * pitch] = c - b;
    d[3 * pitch] = e - b;
}

// u[C / groups][16][K] = G · g · G^T: filters lie side by side, as the blocks load them.
extern "C" __global__ void winograd_filters(const float* __restrict__ w, float* __restrict__ u, Conv v) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    if (k >= v.K) return;  // the last block may be larger than what is left
    const float* g = w + (size_t)(k * (v.C / v.groups) + c) * 9;
    float half[4][3], full[4][4];
    for (int s = 0; s < 3; ++s) transform_filter(g[s], g[3 + s], g[6 + s], &half[0][s], 3);
    for (int i = 0; i < 4; ++i) transform_filter(half[i][0], half[i][1], half[i][2], full[i], 1);
    for (int e = 0; e < 16; ++e) u[((size_t)c * 16 + e) * v.K + k] = full[e / 4][e % 4];
}

// The 4×4 pixels of tile `tile`, zeros outside the image and beyond the last tile.
__device__ void load_tile(const float* __restrict__ x, int tile, int c, float d[4][4], const Conv& v) {
    int down = (v.P + 1) / 2, across = (v.Q + 1) / 2;
    int n = tile / (down * across);
    int top = tile / across % down * 2 - v.pad_top, left = tile % across * 2 - v.pad_left;
    const float* plane = x + (size_t)(n * v.C + c) * v.H * v.W;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int h = top + i, col = left + j;
            bool inside = n < v.N && h >= 0 && h < v.H && col >= 0 && col < v.W;
            d[i][j] = inside ? plane[(size_t)h * v.W + col] : 0.0f;
        }
}

// A^T · m · A and the bias, for the outputs of one tile that lie inside the image.
__device__ void store_tile(float* __restrict__ y, const float m[16], float bias, int tile, int k, const Conv& v) {
    int down = (v.P + 1) / 2, across = (v.Q + 1) / 2;
    int n = tile / (down * across), p = tile / across % down * 2, q = tile % across * 2;
    if (n >= v.N) return;
    float half[2][4];
    for (int j = 0; j < 4; ++j) {
        half[0][j] = m[j] + m[4 + j] + m[8 + j];
        half[1][j] = m[4 + j] - m[8 + j] + m[12 + j];
    }
    for (int i = 0; i < 2 && p + i < v.P; ++i) {
        float* row = y + ((size_t)(n * v.K + k) * v.P + p + i) * v.Q + q;
        row[0] = half[i][0] + half[i][1] + half[i][2] + bias;
        if (q + 1 < v.Q) row[1] = half[i][1] - half[i][2] + half[i][3] + bias;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
conv_winograd(const float* __restrict__ x, const float* __restrict__ u,
              const float* __restrict__ bias,  // null: no bias
              float* __restrict__ y, Conv v) {
    __shared__ float4 weights[BC][16][BK / TK];  // [c][e][k / TK]: transformed filters, four in one
    __shared__ float tiles[BC][16][BT];          // [c][e][tile]: transformed input tiles
    int channels = v.C / v.groups, filters = v.K / v.groups, parts = (filters + BK - 1) / BK;
    int group = blockIdx.y / parts, first_k = blockIdx.y % parts * BK;   // within the group
    int t = threadIdx.x % BT, tile = blockIdx.x * BT + t, four = threadIdx.x / BT;
    bool idle = first_k + four * TK >= filters;                          // the group's last filters fill no block
    float sum[TK][16] = {};

    for (int c0 = 0; c0 < channels; c0 += BC) {
        int step = min(BC, channels - c0);
        for (int i = threadIdx.x; i < step * 16 * BK; i += THREADS) {
            int k = first_k + i % BK;
            size_t row = (size_t)c0 * 16 + i / BK;
            ((float*)weights)[i] = k < filters ? u[row * v.K + group * filters + k] : 0.0f;
        }
        for (int c = four; c < step; c += THREADS / BT) {
            float d[4][4];
            load_tile(x, tile, group * channels + c0 + c, d, v);
            for (int j = 0; j < 4; ++j) transform_input(&d[0][j], 4);
            for (int j = 0; j < 4; ++j) transform_input(d[j], 1);
            for (int e = 0; e < 16; ++e) tiles[c][e][t] = d[e / 4][e % 4];
        }
        __syncthreads();  // or a fast warp multiplies elements that a slow one has not transformed yet

        for (int c = 0; c < step && !idle; ++c)
            for (int e = 0; e < 16; ++e) {
                float4 f = weights[c][e][four];
                float d = tiles[c][e][t];
                sum[0][e] += f.x * d;
                sum[1][e] += f.y * d;
                sum[2][e] += f.z * d;
                sum[3][e] += f.w * d;
            }
        __syncthreads();  // or a fast warp overwrites this step's elements, which a slow one still multiplies
    }

    for (int i = 0; i < TK; ++i) {
        int k = group * filters + first_k + four * TK + i;
        if (k >= (group + 1) * filters) return;
        store_tile(y, sum[i], bias ? bias[k] : 0.0f, tile, k, v);
    }
}
