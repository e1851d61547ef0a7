// mma.sync with ldmatrix: fragments come out of swizzled shared memory without a bank conflict.
#include <cuda_fp16.h>

constexpr int BM = 64, BN = 64, BK = 64;  // the block's tiles; 2x2 warps, each with 32x32 of C
constexpr int WM = 32, WN = 32, THREADS = 128;
constexpr int CHUNKS = 8;  // a row of 64 halves is eight pieces of 16 bytes

struct __align__(16) Chunk { half element[8]; };

// Eight rows of one column of chunks would share four banks: the exclusive or spreads them over all 32.
__device__ int swizzled(int row, int chunk) { return row * CHUNKS + (chunk ^ row % CHUNKS); }

__device__ unsigned address(const Chunk* chunk) { return (unsigned)__cvta_generic_to_shared(chunk); }

__device__ void load_x4(unsigned (&r)[4], const Chunk* chunk) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(chunk)));
}

__device__ void load_x2_transposed(unsigned (&r)[2], const Chunk* chunk) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(address(chunk)));
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Copy a 64x64 tile of a row-major matrix; what lies outside becomes zero. width is a multiple of 8.
__device__ void stage(Chunk* tile, const half* matrix, int top, int left, int height, int width) {
    for (int i = threadIdx.x; i < 64 * CHUNKS; i += THREADS) {
        int row = i / CHUNKS, chunk = i % CHUNKS, column = left + 8 * chunk;
        bool inside = top + row < height && column < width;
        tile[swizzled(row, chunk)] = inside ? *(const Chunk*)&matrix[(top + row) * width + column] : Chunk{};
    }
}

// C (M x N) = A (M x K) * B (K x N), row-major; N and K are multiples of 8.
extern "C" __global__ void __launch_bounds__(THREADS)
multiply(const half* a, const half* b, float* c, int M, int N, int K) {
    __shared__ Chunk left[BM * CHUNKS], right[BK * CHUNKS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int row = warp / 2 * WM, column = warp % 2 * WN;  // of this warp's part in the block's tile

    float sum[WM / 16][WN / 8][4] = {};
    for (int k = 0; k < K; k += BK) {
        stage(left, a, blockIdx.y * BM, k, M, K);
        stage(right, b, k, blockIdx.x * BN, K, N);
        __syncthreads();  // both tiles are complete
        for (int step = 0; step < BK; step += 16) {
            unsigned x[WM / 16][4], y[WN / 8][2];
            for (int i = 0; i < WM / 16; ++i)  // lanes name the rows: 0..15 of the left chunks, then of the right
                load_x4(x[i], &left[swizzled(row + 16 * i + lane % 16, step / 8 + lane / 16)]);
            for (int j = 0; j < WN / 8; ++j)  // only the first 16 lanes' addresses count
                load_x2_transposed(y[j], &right[swizzled(step + lane % 16, column / 8 + j)]);
            for (int i = 0; i < WM / 16; ++i)
                for (int j = 0; j < WN / 8; ++j) multiply_add(sum[i][j], x[i], y[j]);
        }
        __syncthreads();  // all warps are done with the tiles
    }

    for (int i = 0; i < WM / 16; ++i)
        for (int j = 0; j < WN / 8; ++j)
            for (int e = 0; e < 4; ++e) {
                int r = blockIdx.y * BM + row + 16 * i + lane / 4 + e / 2 * 8;
                int s = blockIdx.x * BN + column + 8 * j + lane % 4 * 2 + e % 2;
                if (r < M && s < N) c[r * N + s] = sum[i][j][e];
            }
}
