// tensor_core_mma: the Tensor Cores fed by hand, with mma.sync, ldmatrix, cp.async and a swizzle.
//
// Idea             implicit GEMM whose three movements are one instruction each: 16 bytes of a pixel's channels go from
//                  global to shared memory without a register (cp.async), from there into the fragments of a warp, four
//                  8×8 matrices at a time (ldmatrix), and these into products (mma.sync m16n8k16). k runs over r, s, c:
//                  in NHWC, neighbours along k are neighbours in memory.
// Parallelisation  blockIdx.x is a tile of BN pixels of all images, blockIdx.y a tile of BM filters, blockIdx.z a group
//                  and, for outputs of few tiles, a part of k, whose sums a second kernel adds in a fixed order. Four
//                  warps share the tile; while one step along k is multiplied, the next STAGES - 1 are on their way.
// Expected limit   the Tensor Cores, on large layers; on small ones the latency of the copies.
// Prediction       seven times fewer load requests than tensor_core, which loads 2 bytes where this loads 16, half the
//                  shared wavefronts, and three times fewer instructions, with 64 filters five: 30 times fewer than
//                  naive, as TF32 10. No bank conflict at all: the swizzle spreads what a column of pieces would heap
//                  on a few banks.
// Honest negatives channels of a group that fill no piece of 16 bytes (3 of an image) come one by one, and wait. What
//                  lacks to a multiple of BM filters or of BK along k is multiplied as zeros. TF32 rounds an element
//                  again for every fragment that holds it. To find a piece of a pixel takes two divisions (input_at),
//                  where implicit_gemm_nhwc counts on. On Hopper mma.sync reaches about two thirds of the peak: the
//                  rest needs wgmma, whose rung would be the next one.
#include "mma.cuh"
#include "window.cuh"

#ifndef ELEMENT
#define ELEMENT half  // or __nv_bfloat16; or float, multiplied as TF32
#endif
#ifndef BM
#define BM 64  // filters of a block
#endif
#ifndef BN
#define BN 64  // pixels of a block
#endif
#ifndef PIECES
#define PIECES 4  // of 16 bytes, in a row of a tile
#endif
#ifndef STAGES
#define STAGES 3
#endif
constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr int WARPS_M = BM > 32 ? 2 : 1, WARPS_N = WARPS / WARPS_M;
constexpr int WM = BM / WARPS_M, WN = BN / WARPS_N;  // the tile of a warp
constexpr int EACH = 16 / sizeof(ELEMENT);           // elements of a piece
constexpr int BK = PIECES * EACH;
constexpr int ROWS = THREADS / PIECES;               // of a tile, that the block copies at a time
static_assert(WM % 16 == 0 && WN % 16 == 0, "ldmatrix brings 16 rows");
static_assert(PIECES == 2 || PIECES == 4 || PIECES == 8, "a step multiplies two pieces; all banks hold eight");
static_assert(BN % ROWS == 0, "each thread has the same number of windows");
static_assert(STAGES >= 2, "one stage is filled while another is read");

struct __align__(16) Piece { ELEMENT element[EACH]; };
struct Stage { Piece w[BM * PIECES], x[BN * PIECES]; };  // BM × BK, BN × BK
static_assert(STAGES * sizeof(Stage) <= 48 * 1024, "a block has at most 48 KB of static shared memory");

// Where a piece lies: by the exclusive or, piece p of eight rows in a row lies in eight different groups of four banks.
__device__ int place(int row, int piece) { return row * PIECES + (piece ^ row / (8 / PIECES) % PIECES); }

// What one thread copies from: rows of w, and the windows of its pixels, found once.
struct Source {
    const ELEMENT* w;  // the tile's first filter
    int filters;       // from there on, in this group
    int gemm_k, channels;
    Window<ELEMENT> windows[BN / ROWS];
};

// The input element that stands at k of a window; null where that is padding or beyond.
__device__ const ELEMENT* input_at(const Window<ELEMENT>& window, int k, int channels, const Conv& v) {
    int tap = k / channels, r = tap / v.S, s = tap % v.S;
    int h = window.top + r * v.dilation_h, col = window.left + s * v.dilation_w;
    bool inside = r < v.R && h >= 0 && h < v.H && col >= 0 && col < v.W;
    return inside ? window.image + ((size_t)h * v.W + col) * v.C + k % channels : nullptr;
}

// Copies a piece whose elements stand at k and after it: whole, or each from where it is.
template <bool WHOLE, typename At> __device__ void copy_piece(Piece* to, int k, At at, const ELEMENT* anywhere) {
    if (WHOLE) {
        const ELEMENT* from = at(k);
        copy_async(to, (const Piece*)(from ? from : anywhere), from != nullptr);
        return;
    }
    Piece piece;
    for (int e = 0; e < EACH; ++e) {
        const ELEMENT* from = at(k + e);
        piece.element[e] = from ? *from : ELEMENT(0.0f);
    }
    *to = piece;
}

// Starts to fill a stage with the tiles that begin at k.
template <bool WHOLE> __device__ void fill(Stage& stage, const Source& source, int k, const Conv& v) {
    int piece = threadIdx.x % PIECES, row = threadIdx.x / PIECES;
    k += piece * EACH;
    for (int i = row; i < BM; i += ROWS) {
        auto filter_at = [&](int k) {
            return i < source.filters && k < source.gemm_k ? source.w + (size_t)i * source.gemm_k + k : nullptr;
        };
        copy_piece<WHOLE>(&stage.w[place(i, piece)], k, filter_at, source.w);
    }
    for (int i = 0; i < BN / ROWS; ++i) {
        auto pixel_at = [&](int k) { return input_at(source.windows[i], k, source.channels, v); };
        copy_piece<WHOLE>(&stage.x[place(row + i * ROWS, piece)], k, pixel_at, source.w);
    }
}

// One warp's product of two tiles: each fragment that ldmatrix brings serves several products.
__device__ void multiply(const Stage& stage, float (&sum)[WM / 16][WN / 8][4]) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = warp / WARPS_N * WM + lane % 16, column = warp % WARPS_N * WN + lane % 16;
    for (int step = 0; step < PIECES; step += 2) {
        unsigned a[WM / 16][4], b[WN / 16][4];
        int piece = step + lane / 16;
        for (int i = 0; i < WM / 16; ++i) load_matrices(a[i], &stage.w[place(row + 16 * i, piece)]);
        for (int j = 0; j < WN / 16; ++j) load_matrices(b[j], &stage.x[place(column + 16 * j, piece)]);
        for (int i = 0; i < WM / 16; ++i)
            for (int j = 0; j < WN / 16; ++j) {  // 16 pixels are two products
                multiply_add<ELEMENT>(sum[i][2 * j], a[i], b[j][0], b[j][2]);
                multiply_add<ELEMENT>(sum[i][2 * j + 1], a[i], b[j][1], b[j][3]);
            }
    }
}

// Stores the sums of the filters and pixels that exist: eight lanes, eight filters of one pixel, side by side.
__device__ void store(float* y, const float* bias, const float (&sum)[WM / 16][WN / 8][4], int filter, int filters,
                      int pixel, const Conv& v) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = warp / WARPS_N * WM + lane / 4, left = warp % WARPS_N * WN + lane % 4 * 2;
    for (int i = 0; i < WM / 16; ++i)
        for (int e = 0; e < 4; ++e) {
            int row = top + 16 * i + e / 2 * 8, k = filter + row;
            float start = bias && row < filters ? bias[k] : 0.0f;
            for (int j = 0; j < WN / 8; ++j) {
                int at = pixel + left + 8 * j + e % 2;
                if (row < filters && at < v.N * v.P * v.Q) y[(size_t)at * v.K + k] = sum[i][j][e] + start;
            }
        }
}

template <bool WHOLE>
__device__ void convolve(const ELEMENT* x, const ELEMENT* w, const float* bias, float* y, const Conv& v) {
    __shared__ Stage stages[STAGES];
    int splits = gridDim.z / v.groups, split = blockIdx.z % splits, group = blockIdx.z / splits;
    int channels = v.C / v.groups, filters = v.K / v.groups, gemm_k = v.R * v.S * channels;
    int filter = group * filters + blockIdx.y * BM, pixel = blockIdx.x * BN;  // the tile's first
    Source source = {w + (size_t)filter * gemm_k, filters - (int)blockIdx.y * BM, gemm_k, channels};
    for (int i = 0; i < BN / ROWS; ++i)
        source.windows[i] = window_of(pixel + threadIdx.x / PIECES + i * ROWS, x + group * channels, v);

    int steps = (gemm_k + BK - 1) / BK, part = (steps + splits - 1) / splits;
    int first = split * part, last = min(first + part, steps);
    for (int step = first; step < first + STAGES - 1; ++step) {
        if (step < last) fill<WHOLE>(stages[step % STAGES], source, step * BK, v);
        commit_copies();
    }
    float sum[WM / 16][WN / 8][4] = {};
    for (int step = first; step < last; ++step) {
        wait_for_copies<STAGES - 2>();  // for this step's; those of the steps after it may still be under way
        // Or a fast warp reads elements of this stage that a slow one has not copied yet; or overwrites those of the
        // step before, which a slow one still multiplies and whose stage is filled next: one barrier keeps off both.
        __syncthreads();
        int next = step + STAGES - 1;
        if (next < last) fill<WHOLE>(stages[next % STAGES], source, next * BK, v);
        commit_copies();  // of nothing, in the last steps: the count of groups goes on
        multiply(stages[step % STAGES], sum);
    }
    store(y + (size_t)split * v.N * v.P * v.Q * v.K, bias, sum, filter, source.filters, pixel, v);
}

// x[N][H][W][C], w[K][R][S][C / groups], y[parts of k][N][P][Q][K]; a bias only where k is in one part.
// One block on an SM will do: better than to spill registers for more.
//
// Channels of a group fill pieces of 16 bytes, and x and w start with a whole one:
extern "C" __global__ void __launch_bounds__(THREADS, 1)
conv_mma(const ELEMENT* __restrict__ x, const ELEMENT* __restrict__ w,
         const float* __restrict__ bias,  // null: no bias
         float* __restrict__ y, Conv v) {
    convolve<true>(x, w, bias, y, v);
}

// Any number of channels:
extern "C" __global__ void __launch_bounds__(THREADS, 1)
conv_mma_any(const ELEMENT* __restrict__ x, const ELEMENT* __restrict__ w,
             const float* __restrict__ bias,  // null: no bias
             float* __restrict__ y, Conv v) {
    convolve<false>(x, w, bias, y, v);
}

// Adds the parts of k, in their order, and the bias: one thread, one output.
extern "C" __global__ void conv_mma_add(const float* __restrict__ parts, const float* __restrict__ bias,
                                        float* __restrict__ y, Conv v, int splits) {
    size_t size = (size_t)v.N * v.P * v.Q * v.K, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;  // the last block may be larger than what is left
    float sum = bias ? bias[i % v.K] : 0.0f;
    for (int split = 0; split < splits; ++split) sum += parts[split * size + i];
    y[i] = sum;
}
