// The definition of Y = A · B with the axes the wrong way round: neighbouring lanes take neighbouring rows, so that a
// warp's load of A touches 32 rows. M, N and K are multiples of the block's sides.

extern "C" __global__ void sgemm_uncoalesced(const float* __restrict__ a, const float* __restrict__ b,
                                             float* __restrict__ y, int M, int N, int K) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    int n = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += a[(size_t)m * K + k] * b[(size_t)k * N + n];
    y[(size_t)m * N + n] = sum;
}
