// mma.sync m16n8k16 with bfloat16: two numbers a register, loaded as pairs or packed from a column.
#include <cuda_bf16.h>

__device__ unsigned packed(__nv_bfloat16 low, __nv_bfloat16 high) {
    __nv_bfloat162 pair = __halves2bfloat162(low, high);
    return *(unsigned*)&pair;
}

// One warp computes 16x8 of C (M x N) = A (M x K) * B (K x N), row-major; sizes are multiples of 16, 8 and 16.
extern "C" __global__ void multiply(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int M, int N, int K) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int group = lane / 4, pair = lane % 4 * 2;
    int row = (blockIdx.y * (blockDim.x / 32) + warp) * 16 + group, left = blockIdx.x * 8;
    if (row - group >= M) return;

    float sum[4] = {};
    for (int k = 0; k < K; k += 16) {
        unsigned x[4], y[2];
        for (int i = 0; i < 4; ++i)
            x[i] = *(const unsigned*)&a[(row + i % 2 * 8) * K + k + pair + i / 2 * 8];
        for (int i = 0; i < 2; ++i) {
            const __nv_bfloat16* from = &b[(k + pair + 8 * i) * N + left + group];
            y[i] = packed(from[0], from[N]);  // k and k + 1 of one column
        }
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * N + left + pair + i % 2] = sum[i];
}
