// tensor_core_mma: the Tensor Cores fed by hand, with mma.sync, ldmatrix, cp.async and a swizzle.
//
// Idea             implicit GEMM whose three movements are one instruction each: 16 bytes of a pixel's channels go from
//                  global to shared memory without a register (cp.async), from there into the fragments of a warp, four
//                  8×8 matrices at a time (ldmatrix), and these into products (mma.sync m16n8k16). What the windows of
//                  a block see is copied once for each few channels: as ldmatrix takes an address for every row, each
//                  tap reads the same copy, some rows further on, and X_col is stored nowhere, not even in parts.
// Parallelisation  blockIdx.x is a tile of BN pixels of all images, blockIdx.y a tile of BM filters, blockIdx.z a group
//                  and, for outputs of few tiles, a part of k, whose sums a second kernel adds in a fixed order. Four
//                  warps share the tile, 64 × 64 each at most; while one row of taps is multiplied, the weights of the
//                  next are on their way, and a share of the next channels.
// Expected limit   the Tensor Cores, on large layers; of an SM's 128 bytes of shared memory a cycle, fragments of 64 ×
//                  64 take three fifths of what these multiply in the same time.
// Prediction       sixteen times fewer load requests than tensor_core, with 64 filters 14 times fewer input sectors: it
//                  loads 2 bytes where this loads 16, and a pixel for each tap. Four times fewer instructions, with 64
//                  filters eight, and a third of the shared wavefronts. Ten times fewer instructions than naive, as
//                  TF32 three times. No bank conflict: the swizzle spreads what a column of pieces would heap on a few
//                  banks, and rows of the copy are spaced so that they keep in step, where a block has room for that.
// Honest negatives strides, channels of a group that fill no 32 bytes, and rows of several hundred pixels are left to
//                  tensor_core_gather.cu. A tile of 256 pixels of rows of 56 copies 434, and all weights from L2: with
//                  64 channels and filters that, and 4 bytes for each output, take longer than the products. Threads
//                  keep 128 sums: an SM holds two blocks. TF32 rounds an element again for every fragment that holds
//                  it. On Hopper mma.sync reaches about two thirds of the peak: the rest needs wgmma, whose rung would
//                  be the next one.
#include "mma_tile.cuh"

// The zero-padded input as one row of slots: so many from row to row, from image to image, and for one block's windows.
struct Padded {
    int slots, pitch, image;
};

// The slot of a window's first tap; that of tap (r, s) is r · dilation · pitch + s · dilation further on.
__device__ int slot_of(int pixel, const Padded& in, const Conv& v) {
    return pixel / (v.P * v.Q) * in.image + pixel / v.Q % v.P * in.pitch + pixel % v.Q;
}

// Which of all input pixels lies in a slot; -1 for a zero.
__device__ int pixel_in(int slot, const Padded& in, const Conv& v) {
    int n = slot / in.image, h = slot % in.image / in.pitch - v.pad_top, col = slot % in.image % in.pitch - v.pad_left;
    return n < v.N && h >= 0 && h < v.H && col >= 0 && col < v.W ? (n * v.H + h) * v.W + col : -1;
}

// What a block multiplies, from the group's first channel and the tile's first filter on.
struct Source {
    const ELEMENT *x, *w;
    int channels, gemm_k, filters;
    const int* pixels;  // in shared memory: those of the slots
};

// Starts to copy BK weights of each filter, for a row of taps, to as many tiles of BM rows.
__device__ void copy_weights(unsigned tile, const Source& source, int k, int taps) {
    int piece = threadIdx.x % PIECES;
    for (int row = threadIdx.x / PIECES; row < BM; row += ROWS) {
        bool inside = filter_of(row) < source.filters;
        const ELEMENT* from = source.w + (size_t)(inside ? filter_of(row) : 0) * source.gemm_k + k + piece * EACH;
        unsigned to = place(tile + row * ROW + piece * 16);
        for (int s = 0; s < taps; ++s, to += BM * ROW, from += source.channels) copy_async(to, from, inside);
    }
}

// Starts to copy BK channels, from c on, of the pixels in some slots.
__device__ void copy_pixels(unsigned tile, const Source& source, int c, int begin, int end, int C) {
    int piece = threadIdx.x % PIECES;
    for (int slot = begin + threadIdx.x / PIECES; slot < end; slot += ROWS) {
        int pixel = source.pixels[slot];
        const ELEMENT* from = source.x + (size_t)max(pixel, 0) * C + c + piece * EACH;
        copy_async(place(tile + slot * ROW + piece * 16), from, pixel >= 0);
    }
}

// x[N][H][W][C], w[K][R][S][C / groups], y[parts of k][N][P][Q][K]; a bias only where k is in one part. Stride 1; a
// group has a multiple of BK channels, and x and w start with a whole piece.
// One block on an SM will do: better than to spill registers for more.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
conv_mma(const ELEMENT* __restrict__ x, const ELEMENT* __restrict__ w,
         const float* __restrict__ bias,  // null: no bias
         float* __restrict__ y, Conv v, Padded in) {
    int splits = gridDim.z / v.groups, split = blockIdx.z % splits, group = blockIdx.z / splits;
    int channels = v.C / v.groups, filters = v.K / v.groups, gemm_k = v.R * v.S * channels;
    int filter = blockIdx.y * BM, pixel = blockIdx.x * BN, slot = slot_of(pixel, in, v);  // the tile's first

    unsigned stage = v.S * BM * ROW, ws = shared_address(shared);   // [2][S][BM] rows of weights
    unsigned copy = in.slots * ROW, xs = ws + 2 * stage;            // [2][slots] rows of channels
    int* pixels = (int*)(shared + 2 * (v.S * BM + in.slots) * PIECES);  // [slots]
    for (int i = threadIdx.x; i < in.slots; i += THREADS) pixels[i] = pixel_in(slot + i, in, v);
    __syncthreads();  // or a fast warp reads which pixel lies in a slot before a slow one has written it
    Source source = {x + group * channels, w + ((size_t)group * filters + filter) * gemm_k, channels, gemm_k,
                     filters - filter, pixels};

    Own own;
    unsigned row = (own.filter + own.row) * ROW + own.piece, rows[WN / 16];  // that this thread names to ldmatrix
    for (int i = 0; i < WN / 16; ++i)
        rows[i] = (slot_of(pixel + own.pixel + 16 * i + own.row, in, v) - slot) * ROW + own.piece;

    int end = channels / BK, part = (end + splits - 1) / splits, first = split * part, last = min(first + part, end);
    copy_weights(ws, source, first * BK, v.S);
    copy_pixels(xs + first % 2 * copy, source, first * BK, 0, in.slots, v.C);
    commit_copies();
    Sums sum = {};
    int share = (in.slots + v.R - 1) / v.R;  // of the next copy, that is started with each row of taps
    unsigned now = 0;                        // the stage of weights that is multiplied, in bytes
    for (int step = first; step < last; ++step)
        for (int r = 0; r < v.R; ++r, now = stage - now) {
            wait_for_copies<0>();
            // Or a fast warp reads elements of this stage that a slow one has not copied yet; or overwrites those of
            // the row before, which a slow one still multiplies: one barrier keeps off both.
            __syncthreads();
            bool more = step + 1 < last, same = r + 1 < v.R;
            int k = same ? (r + 1) * v.S * channels + step * BK : (step + 1) * BK;
            if (same || more) copy_weights(ws + stage - now, source, k, v.S);
            if (more)
                copy_pixels(xs + (step + 1) % 2 * copy, source, (step + 1) * BK, r * share,
                            min((r + 1) * share, in.slots), v.C);
            commit_copies();
            unsigned at = ws + now + row, shift = xs + step % 2 * copy + r * v.dilation_h * in.pitch * ROW;
            for (int s = 0; s < v.S; ++s, at += BM * ROW, shift += v.dilation_w * ROW) multiply(at, rows, shift, sum);
        }
    y += (size_t)split * v.N * v.P * v.Q * v.K + group * filters;
    store(y, bias ? bias + group * filters : nullptr, sum, filter, filters, pixel, v);
}
