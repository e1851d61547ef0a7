// SIMD within a register: a 32-bit word as four bytes or two halves, added, compared and averaged lane by lane.

// Four bytes a word; results stand in rows of n: out[row * n + i].
extern "C" __global__ void bytes(const unsigned* a, const unsigned* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned results[] = {__vadd4(x, y), __vsub4(x, y), __vaddus4(x, y), __vaddss4(x, y), __vsubus4(x, y),
                          __vsubss4(x, y), __vmaxu4(x, y), __vmaxs4(x, y), __vminu4(x, y), __vmins4(x, y),
                          __vabsdiffu4(x, y), __vabsdiffs4(x, y), __vavgu4(x, y), __vhaddu4(x, y), __vabs4(x),
                          __vneg4(x), __vcmpeq4(x, y), __vcmpgtu4(x, y), __vcmpges4(x, y), __vsetltu4(x, y),
                          __vsadu4(x, y), __vsads4(x, y)};
    for (int row = 0; row < sizeof(results) / sizeof(unsigned); ++row) out[row * n + i] = results[row];
}

// Two halves a word.
extern "C" __global__ void halves(const unsigned* a, const unsigned* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    unsigned results[] = {__vadd2(x, y), __vsub2(x, y), __vaddus2(x, y), __vaddss2(x, y), __vmaxu2(x, y),
                          __vmins2(x, y), __vabsdiffu2(x, y), __vhaddu2(x, y), __vcmpltu2(x, y), __vcmpne2(x, y),
                          __vsetgts2(x, y), __vsadu2(x, y)};
    for (int row = 0; row < sizeof(results) / sizeof(unsigned); ++row) out[row * n + i] = results[row];
}
