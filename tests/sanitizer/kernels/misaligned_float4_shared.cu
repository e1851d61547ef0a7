// A column of padding against bank conflicts makes rows of 33 floats: every second to fourth row no longer takes a float4.
#ifdef BUG
#define PITCH 33
#else
#define PITCH 36
#endif
extern "C" __global__ void misaligned_float4_shared(float* y, const float* x) {
    __shared__ __align__(16) float tile[8][PITCH];
    int column = threadIdx.x, row = threadIdx.y;  // 32 × 8 threads
    tile[row][column] = x[row * 32 + column];
    __syncthreads();
    if (column >= 8) return;
    float4 v = *reinterpret_cast<float4*>(&tile[row][4 * column]);  // BUG: misaligned
    y[row * 8 + column] = v.x + v.y * v.z - v.w;
}
