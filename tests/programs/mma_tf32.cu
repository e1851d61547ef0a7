// mma.sync m16n8k8 with TF32: which lane holds which element, and how a float is rounded to TF32.

__device__ unsigned to_tf32(float x) {
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));  // to nearest, ties away from zero
    return rounded;
}

// One warp computes 16x8 of C (M x N) = A (M x K) * B (K x N), row-major, any size: what lies outside counts as zero.
extern "C" __global__ void multiply(const float* a, const float* b, float* c, int M, int N, int K) {
    int lane = threadIdx.x, group = lane / 4, member = lane % 4;
    int top = blockIdx.y * 16, left = blockIdx.x * 8;
    float sum[4] = {};
    for (int first = 0; first < K; first += 8) {
        unsigned x[4], y[2];
        for (int i = 0; i < 4; ++i) {
            int row = top + group + i % 2 * 8, k = first + member + i / 2 * 4;
            x[i] = to_tf32(row < M && k < K ? a[row * K + k] : 0.0f);
        }
        for (int i = 0; i < 2; ++i) {
            int k = first + member + 4 * i, column = left + group;
            y[i] = to_tf32(k < K && column < N ? b[k * N + column] : 0.0f);
        }
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; ++i) {
        int row = top + group + i / 2 * 8, column = left + 2 * member + i % 2;
        if (row < M && column < N) c[row * N + column] = sum[i];
    }
}
