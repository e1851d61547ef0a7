// A tile of filters × pixels on Tensor Cores: how its factors lie in shared memory, are multiplied, and are stored.
#pragma once
#include "common.cuh"
#include "mma.cuh"
#include "rows.cuh"

#ifndef ELEMENT
#define ELEMENT half  // or __nv_bfloat16; or float, multiplied as TF32
#endif
#ifndef BM
#define BM 64  // filters of a block
#endif
#ifndef BN
#define BN 256  // pixels of a block
#endif
#ifndef PIECES
#define PIECES 2  // of 16 bytes, in a row of a factor: one filter's or pixel's elements along k
#endif
constexpr int THREADS = 128, WARPS_M = BN < 128 && BM > 32 ? 2 : 1, WARPS_N = 4 / WARPS_M;
constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;   // the tile of a warp
constexpr int EACH = 16 / sizeof(ELEMENT);            // elements of a piece
constexpr int BK = PIECES * EACH, ROW = PIECES * 16;  // of a row: elements, and bytes
constexpr int ROWS = THREADS / PIECES;                // that a block copies at a time
static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings 16 rows");
static_assert(PIECES == 2 || PIECES == 4 || PIECES == 8, "a step multiplies two pieces; all banks hold eight");

struct __align__(16) Piece { ELEMENT element[EACH]; };
extern __shared__ Piece shared[];

// Where a byte of a tile lies: by the exclusive or, the same piece of eight neighbouring rows lies in eight different
// groups of four banks, whichever row is the first.
__device__ unsigned place(unsigned address) { return address ^ (address >> 3 & 16 * (PIECES - 1)); }

// The filter whose weights lie in a row. Sums of a lane are of two columns in a product, and two in the next: filters
// are dealt to them so that these four are neighbours.
__device__ int filter_of(unsigned row) { return row / 16 * 16 + row % 8 / 2 * 4 + row / 8 % 2 * 2 + row % 2; }

// A thread's part of the tile: its warp's first filter and pixel, and the row and piece that it names to ldmatrix.
struct Own {
    int filter = threadIdx.x / 32 / WARPS_N * WM, pixel = threadIdx.x / 32 % WARPS_N * WN;
    int lane = threadIdx.x % 32, row = lane % 16, piece = lane / 16 * 16;  // the piece in bytes
};

using Sums = float[WN / 16][WM / 8][4];

// One warp's product of two factors; the thread's rows of them are at w, every 16 rows, and at x[…] + shift.
__device__ void multiply(unsigned w, const unsigned (&x)[WN / 16], unsigned shift, Sums& sum) {
    for (int step = 0; step < ROW; step += 32) {
        unsigned a[WN / 16][4], b[4], row = place(w + step);
        for (int i = 0; i < WN / 16; ++i) {
            load_matrices(a[i], place(x[i] + shift + step));
            round_factors<ELEMENT>(a[i]);
        }
        for (int j = 0; j < WM / 16; ++j) {
            load_matrices(b, row + 16 * j * ROW);
            round_factors<ELEMENT>(b);
            for (int i = 0; i < WN / 16; ++i) {  // 16 filters are two products
                multiply_add<ELEMENT>(sum[i][2 * j], a[i], b[0], b[2]);
                multiply_add<ELEMENT>(sum[i][2 * j + 1], a[i], b[1], b[3]);
            }
        }
    }
}

// Stores the sums of the filters and pixels that exist: 16 bytes a lane, and four lanes 64 bytes of one pixel.
__device__ void store(float* y, const float* bias, const Sums& sum, int filter, int filters, int pixel, const Conv& v) {
    Own own;
    filter += own.filter + own.lane % 4 * 4;
    pixel += own.pixel + own.lane / 4;
    bool wide = rows_of_four(y, filters), wide_bias = rows_of_four(bias, filters);
    #pragma unroll
    for (int j = 0; j < WM / 16; ++j) {
        float4 add = bias ? load4(bias, filter + 16 * j, filters, wide_bias) : float4{};
        #pragma unroll
        for (int i = 0; i < WN / 8; ++i) {
            const float *one = &sum[i / 2][2 * j][i % 2 * 2], *two = &sum[i / 2][2 * j + 1][i % 2 * 2];
            if (pixel + 8 * i < v.N * v.P * v.Q)
                store4(y + (size_t)(pixel + 8 * i) * v.K, filter + 16 * j, filters, wide,
                       {one[0] + add.x, one[1] + add.y, two[0] + add.z, two[1] + add.w});
        }
    }
}
