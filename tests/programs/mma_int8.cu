// mma.sync with signed bytes, m16n8k16 and m16n8k32: four bytes a register, and sums that can saturate.

// Four bytes along k as one register; rows are aligned to 4 bytes, and what lies outside counts as zero.
__device__ unsigned four(const signed char* matrix, int row, int k, int rows, int K) {
    return row < rows && k < K ? *(const unsigned*)&matrix[row * K + k] : 0;
}

__device__ void load(const int* c, int (&sum)[4], int M, int N) {
    int group = threadIdx.x / 4, member = threadIdx.x % 4;
    for (int i = 0; i < 4; ++i) {
        int row = blockIdx.y * 16 + group + i / 2 * 8, column = blockIdx.x * 8 + 2 * member + i % 2;
        sum[i] = row < M && column < N ? c[row * N + column] : 0;
    }
}

__device__ void store(int* c, const int (&sum)[4], int M, int N) {
    int group = threadIdx.x / 4, member = threadIdx.x % 4;
    for (int i = 0; i < 4; ++i) {
        int row = blockIdx.y * 16 + group + i / 2 * 8, column = blockIdx.x * 8 + 2 * member + i % 2;
        if (row < M && column < N) c[row * N + column] = sum[i];
    }
}

// One warp computes 16x8 of C (M x N) += A (M x K) * B (K x N); B is given as its transpose. K: a multiple of 4.
// .satfinite: a sum that leaves the range of int stays at its end.
extern "C" __global__ void multiply_k16(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.x / 4, column = blockIdx.x * 8 + threadIdx.x / 4;
    int sum[4];
    load(c, sum, M, N);
    for (int first = 0; first < K; first += 16) {
        int k = first + threadIdx.x % 4 * 4;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32 "
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                     : "r"(four(a, row, k, M, K)), "r"(four(a, row + 8, k, M, K)), "r"(four(b, column, k, N, K)));
    }
    store(c, sum, M, N);
}

// The same without the start in C and without saturation, twice as deep.
extern "C" __global__ void multiply_k32(const signed char* a, const signed char* b, int* c, int M, int N, int K) {
    int row = blockIdx.y * 16 + threadIdx.x / 4, column = blockIdx.x * 8 + threadIdx.x / 4;
    int sum[4] = {};
    for (int first = 0; first < K; first += 32) {
        int k = first + threadIdx.x % 4 * 4;
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                     : "r"(four(a, row, k, M, K)), "r"(four(a, row + 8, k, M, K)),
                       "r"(four(a, row, k + 16, M, K)), "r"(four(a, row + 8, k + 16, M, K)),
                       "r"(four(b, column, k, N, K)), "r"(four(b, column, k + 16, N, K)));
    }
    store(c, sum, M, N);
}
