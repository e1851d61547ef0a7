// 128-bit integers: products of 64-bit numbers that lose nothing, for arithmetic modulo a large prime.
// Compile with --device-int128.

using Long = unsigned long long;
using Wide = unsigned __int128;

__device__ Long multiply(Long a, Long b, Long modulus) { return (Wide)a * b % modulus; }

// out[i] = base[i] to the power of exponent[i], modulo modulus: square, and multiply for every bit that is set.
extern "C" __global__ void power(const Long* base, const Long* exponent, Long* out, int n, Long modulus) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Long result = 1, square = base[i] % modulus;
    for (Long bits = exponent[i]; bits; bits >>= 1) {
        if (bits & 1) result = multiply(result, square, modulus);
        square = multiply(square, square, modulus);
    }
    out[i] = result;
}

// Quotients and remainders of signed numbers, rounded towards zero; each result as its low and its high word.
extern "C" __global__ void divide(const longlong2* a, const longlong2* b, longlong2* quotient, longlong2* remainder,
                                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __int128 x = (__int128)a[i].y << 64 | (Long)a[i].x;
    __int128 y = (__int128)b[i].y << 64 | (Long)b[i].x;
    __int128 q = x / y, r = x % y;
    quotient[i] = {(long long)q, (long long)(q >> 64)};
    remainder[i] = {(long long)r, (long long)(r >> 64)};
}
