// Integer tricks: counting and reversing bits, funnel shifts, picking bytes, high halves of products, distances.

// Results stand in rows of n: out[row * n + i].
extern "C" __global__ void bits(const int* a, const int* b, const long long* c, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    int results[] = {__ffs(a[i]), __clz(a[i]), __popc(x), (int)__brev(x), __ffsll(c[i]), __clzll(c[i]),
                     __popcll((unsigned long long)c[i]), (int)(__brevll(c[i]) >> 7), (int)__funnelshift_l(x, y, i),
                     (int)__funnelshift_r(x, y, i), (int)__funnelshift_lc(x, y, i), (int)__funnelshift_rc(x, y, i),
                     (int)__byte_perm(x, y, 0x7250), (int)__byte_perm(x, y, i * 77 & 0x7777), (int)(x >> y % 32),
                     a[i] >> y % 32, (int)__fns(x, i % 32, 1)};
    for (int row = 0; row < sizeof(results) / sizeof(int); ++row) out[row * n + i] = results[row];
}

extern "C" __global__ void arithmetic(const int* a, const int* b, const int* c, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i], z = c[i];
    int results[] = {__mulhi(a[i], b[i]), (int)__umulhi(x, y), __mul24(a[i], b[i]), (int)__umul24(x, y),
                     __sad(a[i], b[i], z), (int)__usad(x, y, z), __hadd(a[i], b[i]), __rhadd(a[i], b[i]),
                     (int)__uhadd(x, y), (int)__urhadd(x, y), a[i] / (b[i] | 1), a[i] % (b[i] | 1), (int)(x / (y | 1)),
                     (int)(x % (y | 1)), abs(a[i]), min(a[i], b[i]), (int)max(x, y)};
    for (int row = 0; row < sizeof(results) / sizeof(int); ++row) out[row * n + i] = results[row];
}

extern "C" __global__ void wide(const long long* a, const long long* b, long long* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = a[i], y = b[i];
    long long results[] = {a[i] * b[i], __mul64hi(a[i], b[i]), (long long)__umul64hi(x, y), a[i] / (b[i] | 1),
                           a[i] % (b[i] | 1), (long long)(x / (y | 1)), (long long)(x % (y | 1)), llabs(a[i]),
                           a[i] >> (i % 64), (long long)(x >> (i % 64)), a[i] << (i % 64), llmin(a[i], b[i]),
                           (long long)ullmax(x, y)};
    for (int row = 0; row < sizeof(results) / sizeof(long long); ++row) out[row * n + i] = results[row];
}
