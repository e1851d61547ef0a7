// tensor_core_gather: tensor_core_mma where windows share no copy: for strides, few channels, and wide dilation.
//
// Idea             k runs over r, s, c, so that three channels under 3×3 taps fill 27 of 32 multipliers: in NHWC,
//                  neighbours along k are mostly neighbours in memory. A tile of X_col is gathered for each step, in
//                  pieces of 16 bytes where a group's channels fill them; the product is that of tensor_core_mma.
// Parallelisation  as tensor_core_mma; a thread has one piece of its pixels' windows, and of its filters.
// Expected limit   the gathering: every element of the input is copied for each window that holds it.
// Prediction       seven times fewer load requests than tensor_core at stride 2, and twice the input sectors that as
//                  many outputs take at stride 1, where windows share a copy.
// Honest negatives channels of a group that fill no piece of 16 bytes (3 of an image) come one by one, and wait. What
//                  lacks to a multiple of BM filters or of BK along k is multiplied as zeros. To find a piece of a
//                  pixel takes two divisions (input_at), where implicit_gemm_nhwc counts on.
#include "mma_tile.cuh"
#include "window.cuh"

static_assert(BN % ROWS == 0, "each thread has the same number of windows");

// The input element that stands at k of a window; null where that is padding or beyond.
__device__ const ELEMENT* input_at(const Window<ELEMENT>& window, int k, int channels, const Conv& v) {
    int tap = k / channels, r = tap / v.S, s = tap % v.S;
    int h = window.top + r * v.dilation_h, col = window.left + s * v.dilation_w;
    bool inside = r < v.R && h >= 0 && h < v.H && col >= 0 && col < v.W;
    return inside ? window.image + ((size_t)h * v.W + col) * v.C + k % channels : nullptr;
}

// Copies a piece whose elements stand at k and after it: whole, or each from where it is.
template <bool WHOLE, typename At> __device__ void copy_piece(unsigned to, int k, At at, const ELEMENT* anywhere) {
    if (WHOLE) {
        const ELEMENT* from = at(k);
        copy_async(to, from ? from : anywhere, from != nullptr);
        return;
    }
    Piece piece;
    for (int e = 0; e < EACH; ++e) {
        const ELEMENT* from = at(k + e);
        piece.element[e] = from ? *from : ELEMENT(0.0f);
    }
    *(Piece*)__cvta_shared_to_generic(to) = piece;
}

// What one thread copies from: rows of w, and the windows of its pixels, found once.
struct Source {
    const ELEMENT* w;  // the tile's first filter
    int filters;       // from there on, in this group
    int gemm_k, channels;
    Window<ELEMENT> windows[BN / ROWS];
};

// Starts to fill a stage with the tiles that begin at k.
template <bool WHOLE> __device__ void fill(unsigned stage, const Source& source, int k, const Conv& v) {
    int piece = threadIdx.x % PIECES, own = threadIdx.x / PIECES;
    k += piece * EACH;
    for (int row = own; row < BM; row += ROWS) {
        int i = filter_of(row);
        auto filter_at = [&](int k) {
            return i < source.filters && k < source.gemm_k ? source.w + (size_t)i * source.gemm_k + k : nullptr;
        };
        copy_piece<WHOLE>(place(stage + row * ROW + piece * 16), k, filter_at, source.w);
    }
    for (int i = 0; i < BN / ROWS; ++i) {
        auto pixel_at = [&](int k) { return input_at(source.windows[i], k, source.channels, v); };
        copy_piece<WHOLE>(place(stage + (BM + own + i * ROWS) * ROW + piece * 16), k, pixel_at, source.w);
    }
}

template <bool WHOLE>
__device__ void convolve(const ELEMENT* x, const ELEMENT* w, const float* bias, float* y, const Conv& v) {
    int splits = gridDim.z / v.groups, split = blockIdx.z % splits, group = blockIdx.z / splits;
    int channels = v.C / v.groups, filters = v.K / v.groups, gemm_k = v.R * v.S * channels;
    int filter = blockIdx.y * BM, pixel = blockIdx.x * BN;  // the tile's first
    Source source = {w + ((size_t)group * filters + filter) * gemm_k, filters - filter, gemm_k, channels};
    for (int i = 0; i < BN / ROWS; ++i)
        source.windows[i] = window_of(pixel + (int)threadIdx.x / PIECES + i * ROWS, x + group * channels, v);

    Own own;
    unsigned stage = (BM + BN) * ROW, start = shared_address(shared);  // [2][BM + BN] rows
    unsigned row = (own.filter + own.row) * ROW + own.piece, rows[WN / 16];  // that this thread names to ldmatrix
    for (int i = 0; i < WN / 16; ++i) rows[i] = (BM + own.pixel + 16 * i + own.row) * ROW + own.piece;
    int steps = (gemm_k + BK - 1) / BK, part = (steps + splits - 1) / splits;
    int first = split * part, last = min(first + part, steps);
    fill<WHOLE>(start + first % 2 * stage, source, first * BK, v);
    commit_copies();
    Sums sum = {};
    for (int step = first; step < last; ++step) {
        wait_for_copies<0>();
        // Or a fast warp reads elements of this stage that a slow one has not copied yet; or overwrites those of the
        // step before, which a slow one still multiplies and whose stage is filled next: one barrier keeps off both.
        __syncthreads();
        if (step + 1 < last) fill<WHOLE>(start + (step + 1) % 2 * stage, source, (step + 1) * BK, v);
        commit_copies();
        unsigned now = start + step % 2 * stage;
        multiply(now + row, rows, now, sum);
    }
    y += (size_t)split * v.N * v.P * v.Q * v.K + group * filters;
    store(y, bias ? bias + group * filters : nullptr, sum, filter, filters, pixel, v);
}

// x[N][H][W][C], w[K][R][S][C / groups], y[parts of k][N][P][Q][K]; a bias only where k is in one part.
// One block on an SM will do: better than to spill registers for more.
//
// Channels of a group fill pieces of 16 bytes, and x and w start with a whole one:
extern "C" __global__ void __launch_bounds__(THREADS, 1)
conv_mma_gather(const ELEMENT* __restrict__ x, const ELEMENT* __restrict__ w,
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
