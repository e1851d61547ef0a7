// Matrix product with a tile of 4 × 4 results in each thread's registers: fewer loads for each multiply-add.

constexpr int BM = 32, BN = 32, BK = 8;  // the block's tile
constexpr int TM = 4, TN = 4;            // the thread's
constexpr int THREADS = (BM / TM) * (BN / TN);
static_assert(BM * BK == 4 * THREADS && BK * BN == 4 * THREADS, "each thread loads one float4 of A and one of B");

// N and K divide by four, so that no float4 crosses the end of a row; M is free.
extern "C" __global__ void __launch_bounds__(THREADS)
matmul_registers(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) float As[BK][BM + 4];  // transposed: a thread's TM rows are one float4
    __shared__ __align__(16) float Bs[BK][BN];
    int t = threadIdx.x;
    int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    int ty = t / (BN / TN) * TM, tx = t % (BN / TN) * TN;
    int a_row = t / (BK / 4), a_col = t % (BK / 4) * 4;
    int b_row = t / (BN / 4), b_col = t % (BN / 4) * 4;
    float sum[TM][TN] = {};

    for (int k0 = 0; k0 < K; k0 += BK) {
        float4 a = make_float4(0, 0, 0, 0), b = a;
        if (row0 + a_row < M && k0 + a_col < K)
            a = *reinterpret_cast<const float4*>(&A[(row0 + a_row) * K + k0 + a_col]);
        if (k0 + b_row < K && col0 + b_col < N)
            b = *reinterpret_cast<const float4*>(&B[(k0 + b_row) * N + col0 + b_col]);
        As[a_col + 0][a_row] = a.x;
        As[a_col + 1][a_row] = a.y;
        As[a_col + 2][a_row] = a.z;
        As[a_col + 3][a_row] = a.w;
        *reinterpret_cast<float4*>(&Bs[b_row][b_col]) = b;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float4 u = *reinterpret_cast<float4*>(&As[k][ty]), v = *reinterpret_cast<float4*>(&Bs[k][tx]);
            float left[TM] = {u.x, u.y, u.z, u.w}, right[TN] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
        if (row0 + ty + i < M && col0 + tx < N)
            *reinterpret_cast<float4*>(&C[(row0 + ty + i) * N + col0 + tx]) =
                make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}
