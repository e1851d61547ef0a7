// winograd: F(2×2, 3×3) in one kernel, with 16 products for four outputs where the definition has 36.
//
// Idea             four neighbouring outputs share their 4×4 input tile: transform it (32 additions) and the filter,
//                  multiply element by element, sum over the channels, and transform the sums back (24 additions).
//                  A transform serves many products: the input's all filters of a block, the output's all channels.
//                  Each of the 16 elements is a matrix product of its own, of filters × channels and channels × tiles.
// Parallelisation  a block computes BK filters of BT tiles: 16 products at once, by 16 threads each, which keep TK × TT
//                  sums in registers. While they multiply, half of the warps have the next tiles under way, the other
//                  half the next filters. An output needs all 16 elements: in the end threads exchange their sums.
//                  blockIdx.x has tiles of all images in one line, y a part of a group's filters, z the group.
// Expected limit   issue slots: at C = K = 64 more than half of the instructions multiply and add, and a tenth fetch
//                  pixels, one at a time. The load and store units follow, a third of whose work is pixels again.
// Prediction       2 times fewer multiply-adds than naive at C = K = 64 and 1.8 times at 16: 2.25 times fewer products,
//                  less what the transforms add (an addition counts as half) and what naive leaves out at the border.
//                  Against implicit_gemm, 1.5 times fewer instructions in all. No bank conflicts.
// Honest negatives only 3×3 with stride 1; what does not fill BK, BT or BC is computed as zeros; each part of filters
//                  transforms the tiles anew; 64 sums of a thread leave room for 16 warps on an SM; small images give
//                  few blocks; each store touches its sectors twice; an error may grow with the largest pixel of the
//                  tile, not of the window's products alone.
#include "common.cuh"

#ifndef BK
#define BK 32         // filters of a block: 16 or 32
#endif
#define BT 32         // tiles of a block, 2×2 outputs each
#define BC 4          // channels of a stage
#define THREADS 256
#define TK (BK / 4)   // filters of a thread
#define TT (BT / 4)   // tiles of a thread
#define FOURS (BC * 16 * BK / 4 / (THREADS - BC * BT))  // of filters, for each thread that brings some in a step
static_assert(BK % 16 == 0 && BT == 32, "8 lanes read 4 fours of two elements from each matrix: all banks, once");
static_assert(2 * BC * BT == THREADS, "a thread brings one tile of one channel, or filters");
static_assert(FOURS <= 4, "filters under way lie where other threads have a tile's 16 pixels");

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

// u[group][part][c][e / 2][k / 16][e % 2][k % 16], element e of G · g · G^T: as blocks load and keep them, with zeros
// for filters that are too many to fill a part and channels that are too many to fill a stage.
extern "C" __global__ void winograd_filters(const float* __restrict__ w, float* __restrict__ u, Conv v) {
    int slot = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    int channels = v.C / v.groups, filters = v.K / v.groups, parts = (filters + BK - 1) / BK;
    int part = slot / BK, group = part / parts, k = part % parts * BK + slot % BK;  // k: within the group
    if (group >= v.groups) return;  // the last block may be larger than what is left
    const float* filter = w + ((size_t)(group * filters + k) * channels + c) * 9;
    float g[9], half[4][3], full[4][4];
    for (int i = 0; i < 9; ++i) g[i] = k < filters && c < channels ? filter[i] : 0.0f;
    for (int s = 0; s < 3; ++s) transform_filter(g[s], g[3 + s], g[6 + s], &half[0][s], 3);
    for (int i = 0; i < 4; ++i) transform_filter(half[i][0], half[i][1], half[i][2], full[i], 1);
    float* to = u + ((size_t)part * gridDim.y + c) * 16 * BK + slot % BK / 16 * 32 + slot % 16;
    for (int e = 0; e < 16; ++e) to[e / 2 * 2 * BK + e % 2 * 16] = full[e / 4][e % 4];
}

struct Tile {
    int n, p, q;  // its image, and its first output; n >= N beyond the last tile
};

__device__ Tile find_tile(int number, const Conv& v) {
    int down = (v.P + 1) / 2, across = (v.Q + 1) / 2;
    return {number / (down * across), number / across % down * 2, number % across * 2};
}

// A^T · m · A and the bias, for the outputs of one tile that lie inside the image.
__device__ void store_tile(float* __restrict__ y, const float m[16], float bias, Tile tile, int k, const Conv& v) {
    float half[2][4];
    for (int j = 0; j < 4; ++j) {
        half[0][j] = m[j] + m[4 + j] + m[8 + j];
        half[1][j] = m[4 + j] - m[8 + j] + m[12 + j];
    }
    for (int i = 0; i < 2 && tile.p + i < v.P; ++i) {
        float* row = y + ((size_t)(tile.n * v.K + k) * v.P + tile.p + i) * v.Q + tile.q;
        row[0] = half[i][0] + half[i][1] + half[i][2] + bias;
        if (tile.q + 1 < v.Q) row[1] = half[i][1] - half[i][2] + half[i][3] + bias;
    }
}

__device__ void read(float* to, const float* from) {
    float4 four = *(const float4*)from;
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

__device__ void write(float* to, const float* from) { *(float4*)to = make_float4(from[0], from[1], from[2], from[3]); }

extern "C" __global__ void __launch_bounds__(THREADS, 2)  // two blocks on an SM: at most 128 registers
conv_winograd(const float* __restrict__ x, const float* __restrict__ u,
              const float* __restrict__ bias,  // null: no bias
              float* __restrict__ y, Conv v) {
    __shared__ union __align__(16) {
        struct {
            float weights[2][BC][8][BK / 16][2][16];  // [stage][c][e / 2][k / 16][e % 2][k % 16]
            float tiles[2][BC][16][BT];               // [stage][c][e][tile]
        };
        float sums[16][16][BT];                       // [e][k % 16][tile]: in the end
    } shared;
    int channels = v.C / v.groups, filters = v.K / v.groups, group = blockIdx.z, first_k = blockIdx.y * BK;
    unsigned t = threadIdx.x, lane = t % 32, c = t / BT, plane = v.H * v.W;

    // Warp c < BC brings channel c of the tiles, the warps after these bring filters.
    unsigned inside = 0, filter = (t - BC * BT) * 4, padded = (channels + BC - 1) / BC * BC;
    const float* from = u + (size_t)(group * gridDim.y + blockIdx.y) * padded * 16 * BK + filter;
    if (c < BC) {
        Tile tile = find_tile(blockIdx.x * BT + lane, v);
        int top = tile.p - v.pad_top, left = tile.q - v.pad_left;
        from = x + (size_t)(tile.n * v.C + group * channels + c) * plane + (long long)top * v.W + left;
        for (int i = 0; i < 16; ++i) {  // bit i: whether pixel (i / 4, i % 4) lies in the image
            int h = top + i / 4, col = left + i % 4;
            if (tile.n < v.N && h >= 0 && h < v.H && col >= 0 && col < v.W) inside |= 1u << i;
        }
    }
    float next[4][4];  // under way: a tile, or FOURS of filters
    auto fetch = [&](int c0) {
        const float* row = from + (size_t)c0 * plane;
        unsigned bits = c0 + c < channels ? inside : 0;
        if (c >= BC)
            for (int i = 0; i < FOURS; ++i) read(next[i], from + c0 * 16 * BK + i * (BC * 16 * BK / FOURS));
        else
            for (int i = 0; i < 4; ++i, row += v.W)
                for (int j = 0; j < 4; ++j) next[i][j] = bits >> (4 * i + j) & 1 ? row[j] : 0.0f;
    };

    // Eight lanes that shared memory serves together have four fours of filters and, on a diagonal, four of tiles, of
    // two elements: 32 words that lie in 32 banks, as the second element's threads take their two fours of tiles in
    // the other order.
    unsigned e = t / 32 * 2 + lane / 4 % 2, k = lane % 4 * 4, column = (lane + lane / 8) % 4 * 4 ^ e % 2 * 16;
    int other = column < 16 ? 16 : -16;
    float sum[TK][TT] = {};
    fetch(0);
    for (int c0 = 0, stage = 0; c0 < channels; c0 += BC, stage ^= 1) {
        if (c < BC) {
            for (int j = 0; j < 4; ++j) transform_input(&next[0][j], 4);
            for (int i = 0; i < 4; ++i) transform_input(next[i], 1);
            for (int i = 0; i < 16; ++i) shared.tiles[stage][c][i][lane] = next[i / 4][i % 4];
        } else {
            float* to = (float*)shared.weights[stage] + filter;
            for (int i = 0; i < FOURS; ++i) write(to + i * (BC * 16 * BK / FOURS), next[i]);
        }
        // Or a fast warp multiplies elements of this stage that a slow one has not stored yet; or overwrites those of
        // the other stage, which a slow one still multiplies, in the next step.
        __syncthreads();
        if (c0 + BC < channels) fetch(c0 + BC);
        const float* left_at = &shared.weights[stage][0][e / 2][0][e % 2][k];
        const float* right_at = &shared.tiles[stage][0][e][column];
        #pragma unroll 2  // by 4, registers would spill
        for (int i = 0; i < BC; ++i, left_at += 16 * BK, right_at += 16 * BT) {
            float left[TK], right[TT];
            for (int h = 0; h < TK; h += 4) read(&left[h], left_at + h * 8);
            read(&right[0], right_at);
            read(&right[4], right_at + other);
            for (int f = 0; f < TK; ++f)
                for (int j = 0; j < TT; ++j) sum[f][j] += left[f] * right[j];
        }
    }

    #pragma unroll
    for (int h = 0; h < TK; h += 4) {  // 16 filters of the block at a time
        __syncthreads();  // or a fast warp overwrites elements that a slow one still multiplies, or sums that it reads
        for (int f = 0; f < 4; ++f) {
            write(&shared.sums[e][k + f][column], &sum[h + f][0]);
            write(&shared.sums[e][k + f][column + other], &sum[h + f][4]);
        }
        __syncthreads();  // or a fast warp reads sums that a slow one has not stored yet
        Tile tile = find_tile(blockIdx.x * BT + lane, v);
        for (int f = t / BT; f < 16; f += THREADS / BT) {
            int out = first_k + h * 4 + f;  // within the group
            if (tile.n >= v.N || out >= filters) break;
            out += group * filters;
            float m[16];
            for (int i = 0; i < 16; ++i) m[i] = shared.sums[i][f][lane];
            store_tile(y, m, bias ? bias[out] : 0.0f, tile, out, v);
        }
    }
}
