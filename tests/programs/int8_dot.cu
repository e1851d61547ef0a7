// __dp4a: four products of bytes and their sum in one instruction, as in the layers of a quantised network.

// One warp computes one output: y[row] = sum over k of w[row][k] * x[k]; K is a multiple of 4, rows of packed bytes.
extern "C" __global__ void matvec(const int* w, const int* x, int* y, int rows, int quads) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int sum = 0;
    for (int i = lane; i < quads; i += 32) sum = __dp4a(w[row * quads + i], x[i], sum);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}

// Bytes without a sign, given as uchar4.
extern "C" __global__ void dot_unsigned(const uchar4* a, const uchar4* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __dp4a(a[i], b[i], 7u);
}

// 16-bit numbers with the low or the high two bytes of the second operand.
extern "C" __global__ void dot_2(const short2* a, const char4* b, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __dp2a_hi(a[i], b[i], __dp2a_lo(a[i], b[i], -3));
}
