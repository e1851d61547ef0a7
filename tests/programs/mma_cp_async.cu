// cp.async with two buffers: the next tiles travel to shared memory while Tensor Cores work on these.
#include <cuda_fp16.h>

constexpr int BM = 64, BN = 32, BK = 32;  // the block's tiles; four warps, each with 16x32 of C
constexpr int THREADS = 128, CHUNKS = 4;  // a row of 32 halves is four pieces of 16 bytes

struct __align__(16) Chunk { half element[8]; };

// Two rows fill all banks, so the exclusive or changes every second row.
__device__ int swizzled(int row, int chunk) { return row * CHUNKS + (chunk ^ row / 2 % CHUNKS); }

__device__ unsigned address(const Chunk* chunk) { return (unsigned)__cvta_generic_to_shared(chunk); }

// Start to copy rows x 32 elements; what lies outside the matrix is filled with zeros by a source size of 0.
__device__ void start(Chunk* tile, int rows, const half* matrix, int top, int left, int height, int width) {
    for (int i = threadIdx.x; i < rows * CHUNKS; i += THREADS) {
        int row = i / CHUNKS, chunk = i % CHUNKS, column = left + 8 * chunk;
        bool inside = top + row < height && column < width;
        const half* from = inside ? &matrix[(top + row) * width + column] : matrix;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     :: "r"(address(&tile[swizzled(row, chunk)])), "l"(from), "r"(inside ? 16 : 0) : "memory");
    }
}

__device__ void load_x4(unsigned (&r)[4], const Chunk* chunk) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(chunk)) : "memory");
}

__device__ void load_x4_transposed(unsigned (&r)[4], const Chunk* chunk) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(chunk)) : "memory");
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// C (M x N) = A (M x K) * B (K x N), row-major; N and K are multiples of 8.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply(const half* a, const half* b, float* c, int M, int N, int K) {
    __shared__ Chunk left[2][BM * CHUNKS], right[2][BK * CHUNKS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int top = blockIdx.y * BM, first = blockIdx.x * BN, tiles = (K + BK - 1) / BK;

    start(left[0], BM, a, top, 0, M, K);
    start(right[0], BK, b, 0, first, K, N);
    asm volatile("cp.async.commit_group;");
    float sum[BN / 8][4] = {};
    for (int tile = 0; tile < tiles; ++tile) {
        if (tile + 1 < tiles) {
            start(left[(tile + 1) % 2], BM, a, top, (tile + 1) * BK, M, K);
            start(right[(tile + 1) % 2], BK, b, (tile + 1) * BK, first, K, N);
        }
        asm volatile("cp.async.commit_group;");           // an empty group in the last round keeps the count
        asm volatile("cp.async.wait_group 1;" ::: "memory");  // all but the newest: this round's tiles are here
        __syncthreads();                                  // and so are the other threads' parts of them
        for (int step = 0; step < BK / 16; ++step) {
            unsigned x[4], y[4];
            load_x4(x, &left[tile % 2][swizzled(16 * warp + lane % 16, 2 * step + lane / 16)]);
            for (int pair = 0; pair < BN / 16; ++pair) {  // 16 columns of B at a time
                load_x4_transposed(y, &right[tile % 2][swizzled(16 * step + lane % 16, 2 * pair + lane / 16)]);
                multiply_add(sum[2 * pair], x, y[0], y[1]);
                multiply_add(sum[2 * pair + 1], x, y[2], y[3]);
            }
        }
        __syncthreads();  // the next round overwrites the buffer that was read here
    }

    for (int j = 0; j < BN / 8; ++j)
        for (int e = 0; e < 4; ++e) {
            int row = top + 16 * warp + lane / 4 + e / 2 * 8, column = first + 8 * j + lane % 4 * 2 + e % 2;
            if (row < M && column < N) c[row * N + column] = sum[j][e];
        }
}
