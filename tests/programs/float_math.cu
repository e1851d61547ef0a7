// The mathematical functions of single precision: accurate ones, and the fast ones that begin with two underscores.

// out[row * n + i] is function number row of x[i]; any argument, also such as need many digits of pi.
extern "C" __global__ void anywhere(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float results[] = {sinf(x[i]), cosf(x[i]), tanf(x[i]), atanf(x[i]), atan2f(x[i], y[i]), cbrtf(x[i]),
                       hypotf(x[i], y[i]), fmodf(x[i], y[i]), remainderf(x[i], y[i]), asinhf(x[i]), floorf(x[i]),
                       rintf(x[i]), truncf(x[i]), roundf(x[i]), fdimf(x[i], y[i]), copysignf(x[i], y[i])};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}

// Moderate arguments of either sign.
extern "C" __global__ void around_zero(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float results[] = {expf(x[i]), exp2f(x[i]), exp10f(x[i]), expm1f(x[i]), sinhf(x[i]), coshf(x[i]), tanhf(x[i]),
                       erff(x[i]), erfcf(x[i]), sinpif(x[i]), cospif(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}

// Arguments larger than zero.
extern "C" __global__ void positive(const float* x, const float* y, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float results[] = {logf(x[i]), log2f(x[i]), log10f(x[i]), log1pf(x[i]), sqrtf(x[i]), rsqrtf(x[i]), powf(x[i], y[i]),
                       lgammaf(x[i]), tgammaf(y[i] + 1.0f), x[i] / y[i], 1.0f / x[i], acoshf(x[i] + 1.0f)};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}

// Arguments between -1 and 1.
extern "C" __global__ void unit(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float results[] = {asinf(x[i]), acosf(x[i]), atanhf(x[i]), erfinvf(x[i]), normcdff(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}

// Fast and less accurate: one or two instructions each. x lies in 0.5..3.
extern "C" __global__ void fast(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float results[] = {__sinf(x[i]), __cosf(x[i]), __expf(x[i]), __logf(x[i]), __powf(x[i], 1.5f),
                       __fdividef(1.0f, x[i]), __frsqrt_rn(x[i]), __frcp_rn(x[i]), __fsqrt_rz(x[i]), __log2f(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}

// Taking numbers apart, and putting them together; and directed rounding.
extern "C" __global__ void parts(const float* x, const float* y, float* out, int* exponents, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float whole, fraction = modff(x[i], &whole);
    float mantissa = frexpf(x[i], &exponents[i]);
    exponents[n + i] = ilogbf(x[i]);
    float results[] = {whole, fraction, mantissa, ldexpf(x[i], -3), nextafterf(x[i], y[i]), __fadd_ru(x[i], y[i]),
                       __fadd_rd(x[i], y[i]), __fmul_rz(x[i], y[i]), __fmaf_rn(x[i], y[i], x[i]),
                       __fdiv_rd(x[i], y[i])};
    for (int row = 0; row < sizeof(results) / sizeof(float); ++row) out[row * n + i] = results[row];
}
