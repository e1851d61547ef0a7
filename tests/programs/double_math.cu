// The mathematical functions of double precision, each from a table, so that one kernel evaluates any of them.

// out[row * n + i] is function number row of x[i], and of y[i] where there are two arguments.
extern "C" __global__ void trigonometry(const double* x, const double* y, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double sine, cosine;
    sincos(x[i], &sine, &cosine);
    double results[] = {sin(x[i]), cos(x[i]), tan(x[i]), sine, cosine, atan(x[i]), atan2(x[i], y[i]), sinpi(y[i])};
    for (int row = 0; row < sizeof(results) / sizeof(double); ++row) out[row * n + i] = results[row];
}

// Arguments larger than zero.
extern "C" __global__ void positive(const double* x, const double* y, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double results[] = {log(x[i]), log2(x[i]), log10(x[i]), log1p(x[i]), sqrt(x[i]), rsqrt(x[i]), cbrt(x[i]),
                        pow(x[i], y[i]), hypot(x[i], y[i]), fmod(x[i], y[i]), x[i] / y[i], lgamma(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(double); ++row) out[row * n + i] = results[row];
}

// Arguments around zero.
extern "C" __global__ void around_zero(const double* x, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double results[] = {exp(x[i]), exp2(x[i]), expm1(x[i]), sinh(x[i]), cosh(x[i]), tanh(x[i]), erf(x[i]), erfc(x[i]),
                        asinh(x[i]), floor(x[i]), ceil(x[i]), rint(x[i]), trunc(x[i]), round(x[i]), fabs(x[i])};
    for (int row = 0; row < sizeof(results) / sizeof(double); ++row) out[row * n + i] = results[row];
}
