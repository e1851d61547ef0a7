// Quantisation: float to bytes and back, with conversions that round to even and saturate instead of wrapping.

__device__ int saturated_s8(float x) {
    int q;
    asm("{ .reg .s8 byte; cvt.rni.sat.s8.f32 byte, %1; cvt.s32.s8 %0, byte; }" : "=r"(q) : "f"(x));
    return q;
}

// Symmetric: q = x / scale in -128..127; and the error that the way there and back leaves.
extern "C" __global__ void quantise(const float* x, signed char* q, float* error, int n, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    q[i] = saturated_s8(x[i] / scale);
    error[i] = fmaf(q[i], scale, -x[i]);  // rounds once, so that the small difference is right
}

// With a zero point: 0..255, clamped by hand.
extern "C" __global__ void quantise_u8(const float* x, unsigned char* q, int n, float scale, int zero) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) q[i] = min(max(__float2int_rn(x[i] / scale) + zero, 0), 255);
}

// Requantise 32-bit sums to bytes by a fixed-point multiplier: (sum * multiplier) >> 31, rounded, saturated.
extern "C" __global__ void requantise(const int* sums, signed char* q, int n, int multiplier, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long product = (long long)sums[i] * multiplier;
    int scaled = (int)((product + (1ll << (30 + shift))) >> (31 + shift));
    q[i] = max(-128, min(127, scaled));
}

// A plain cast saturates as well, and makes zero of what is not a number.
extern "C" __global__ void cast(const float* x, int* i32, unsigned* u32, long long* i64, unsigned char* u8, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    i32[i] = (int)x[i];
    u32[i] = (unsigned)x[i];
    i64[i] = __float2ll_rd(x[i]);
    u8[i] = (unsigned char)__float2uint_ru(__saturatef(x[i]) * 255.0f);
}
