// Y = A · Bᵀ on Tensor Cores, a step of the ladder for each set of macros. A is [M][K], B is [N][K], both half; Y is
// float. M, N and K are multiples of the tiles.
//
//   LDMATRIX  fragments by ldmatrix, not by single loads
//   SWIZZLE   rows of shared memory in different orders, so that eight rows meet eight groups of banks
//   ASYNC     tiles come 16 bytes at a time and past the registers, not 4 bytes at a time through them
//   STAGES    2: the next step's tiles are under way while this step multiplies
#include <cuda_fp16.h>

#ifndef LDMATRIX
#define LDMATRIX 0
#endif
#ifndef SWIZZLE
#define SWIZZLE 0
#endif
#ifndef ASYNC
#define ASYNC 0
#endif
#ifndef BM
#define BM 64
#endif
#ifndef BN
#define BN 64
#endif
#ifndef WM
#define WM 32
#endif
#ifndef WN
#define WN 16
#endif
#ifndef STAGES
#define STAGES 1
#endif
#define BK 64          // halves: a row of 128 bytes, all banks
#define PIECES (BK / 8)  // of 16 bytes in a row
#define WARPS_N (BN / WN)
#define THREADS (BM / WM * WARPS_N * 32)
static_assert(STAGES == 1 || ASYNC, "only asynchronous copies overlap");

extern __shared__ __align__(16) uint4 tiles[];  // [STAGES][BM + BN][PIECES]

__device__ int place(int row, int piece) {
#if SWIZZLE
    piece ^= row % 8;
#endif
    return row * PIECES + piece;
}

__device__ unsigned address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

// Brings ROWS rows of a matrix, BK halves of each.
template <int ROWS> __device__ void fill(uint4* tile, const half* from, int K) {
#if ASYNC
    for (int i = threadIdx.x; i < ROWS * PIECES; i += THREADS) {
        int row = i / PIECES, piece = i % PIECES;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"(address(tile + place(row, piece))), "l"(from + (size_t)row * K + piece * 8) : "memory");
    }
#else
    for (int i = threadIdx.x; i < ROWS * PIECES * 4; i += THREADS) {
        int row = i / (PIECES * 4), pair = i % (PIECES * 4);
        ((half2*)(tile + place(row, pair / 4)))[pair % 4] = *(const half2*)(from + (size_t)row * K + pair * 2);
    }
#endif
}

// Four 8 × 8 matrices: rows row to row + 15, pieces piece and piece + 1.
__device__ void load(unsigned (&r)[4], const uint4* tile, int row, int piece) {
    int lane = threadIdx.x % 32;
#if LDMATRIX
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(tile + place(row + lane % 16, piece + lane / 16))) : "memory");
#else
    for (int i = 0; i < 4; ++i)
        r[i] = ((const unsigned*)(tile + place(row + lane / 4 + i % 2 * 8, piece + i / 2)))[lane % 4];
#endif
}

__device__ void multiply(const uint4* a_tile, const uint4* b_tile, float (&sum)[WM / 16][WN / 8][4]) {
    int warp = threadIdx.x / 32;
    for (int piece = 0; piece < PIECES; piece += 2) {
        unsigned a[WM / 16][4], b[WN / 16][4];
        for (int i = 0; i < WM / 16; ++i) load(a[i], a_tile, warp / WARPS_N * WM + 16 * i, piece);
        for (int j = 0; j < WN / 16; ++j) load(b[j], b_tile, warp % WARPS_N * WN + 16 * j, piece);
        for (int i = 0; i < WM / 16; ++i)
            for (int j = 0; j < WN / 8; ++j) {
                float (&c)[4] = sum[i][j];
                asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                    "{%0, %1, %2, %3};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                    : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j / 2][j % 2]),
                      "r"(b[j / 2][j % 2 + 2]));
            }
    }
}

__device__ void wait_for_copies() {
#if ASYNC
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS)
hgemm(const half* __restrict__ a, const half* __restrict__ b, float* __restrict__ y, int M, int N, int K) {
    a += (size_t)blockIdx.y * BM * K, b += (size_t)blockIdx.x * BN * K;
    auto a_tile = [](int step) { return tiles + step % STAGES * (BM + BN) * PIECES; };
    auto bring = [&](int step) {
        if (step < K / BK) {
            fill<BM>(a_tile(step), a + step * BK, K);
            fill<BN>(a_tile(step) + BM * PIECES, b + step * BK, K);
        }
    };

    float sum[WM / 16][WN / 8][4] = {};
    if (STAGES == 2) bring(0);
    for (int step = 0; step < K / BK; ++step) {
        if (STAGES == 1) bring(step);
        wait_for_copies();
        __syncthreads();  // the tiles of this step are complete; and nobody reads those that are filled next, of two
        if (STAGES == 2) bring(step + 1);
        multiply(a_tile(step), a_tile(step) + BM * PIECES, sum);
        if (STAGES == 1) __syncthreads();  // everybody has read the only tiles before the next step overwrites them
    }
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = blockIdx.y * BM + warp / WARPS_N * WM + lane / 4;
    int column = blockIdx.x * BN + warp % WARPS_N * WN + lane % 4 * 2;
    for (int i = 0; i < WM / 16; ++i)
        for (int j = 0; j < WN / 8; ++j)
            for (int half_tile = 0; half_tile < 2; ++half_tile)
                *(float2*)(y + (size_t)(row + 16 * i + 8 * half_tile) * N + column + 8 * j) =
                    make_float2(sum[i][j][2 * half_tile], sum[i][j][2 * half_tile + 1]);
}
