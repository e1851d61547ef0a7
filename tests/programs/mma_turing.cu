// mma.sync as Turing has it: m16n8k8 for half and m8n8k16 for bytes, fragments gathered by hand.
#include <cuda_fp16.h>

// Lane l of a warp is row l / 4 of a fragment of A (column of B), and holds what follows from column l % 4.

// One warp computes 16x8 of C (M x N) = A (M x K) * B (K x N); A is row-major, B is given as its transpose (N x K).
extern "C" __global__ void multiply_f16(const half* a, const half* b, half* c, int M, int N, int K) {
    int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
    int row = blockIdx.y * 16 + group, column = blockIdx.x * 8 + group;
    unsigned sum[2] = {0, 0};  // two halves each, rows group and group + 8
    for (int k = 0; k < K; k += 8) {
        unsigned x0 = *(const unsigned*)&a[row * K + k + pair];
        unsigned x1 = *(const unsigned*)&a[(row + 8) * K + k + pair];
        unsigned y = *(const unsigned*)&b[column * K + k + pair];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                     : "+r"(sum[0]), "+r"(sum[1]) : "r"(x0), "r"(x1), "r"(y));
    }
    for (int i = 0; i < 2; ++i) *(unsigned*)&c[(row + 8 * i) * N + blockIdx.x * 8 + pair] = sum[i];
}

// The same with a float accumulator.
extern "C" __global__ void multiply_f32(const half* a, const half* b, float* c, int M, int N, int K) {
    int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
    int row = blockIdx.y * 16 + group, column = blockIdx.x * 8 + group;
    float sum[4] = {};
    for (int k = 0; k < K; k += 8) {
        unsigned x0 = *(const unsigned*)&a[row * K + k + pair];
        unsigned x1 = *(const unsigned*)&a[(row + 8) * K + k + pair];
        unsigned y = *(const unsigned*)&b[column * K + k + pair];
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(x0), "r"(x1), "r"(y));
    }
    for (int i = 0; i < 4; ++i) c[(row + i / 2 * 8) * N + blockIdx.x * 8 + pair + i % 2] = sum[i];
}

// One warp computes 8x8 sums of products of bytes: a register holds four of them, along k.
extern "C" __global__ void multiply_s8(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    int lane = threadIdx.x, group = lane / 4, part = lane % 4;
    int row = blockIdx.y * 8 + group, column = blockIdx.x * 8 + group;
    int sum[2] = {};
    for (int k = 0; k < K; k += 16) {
        unsigned x = *(const unsigned*)&a[row * K + k + 4 * part];
        unsigned y = *(const unsigned*)&b[column * K + k + 4 * part];
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+r"(sum[0]), "+r"(sum[1]) : "r"(x), "r"(y));
    }
    for (int i = 0; i < 2; ++i) c[row * N + blockIdx.x * 8 + 2 * part + i] = sum[i];
}
