// Function pointers: a table of functions in device memory, a function as an argument, and integration with either.

typedef float (*Function)(float);

__device__ float square(float x) { return x * x; }
__device__ float line(float x) { return 3.0f * x - 1.0f; }
__device__ float hat(float x) { return x < 0.5f ? x : 1.0f - x; }
__device__ float reciprocal(float x) { return 1.0f / (1.0f + x); }

__device__ Function table[] = {square, line, hat, reciprocal};

extern "C" __global__ void apply(const int* which, const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = table[which[i]](x[i]);  // lanes call different functions: they take turns
}

__device__ __noinline__ float integrate(Function f, float from, float to, int steps) {
    float width = (to - from) / steps, sum = 0.0f;
    for (int i = 0; i < steps; ++i) sum += f(from + (i + 0.5f) * width);
    return sum * width;
}

extern "C" __global__ void integrals(float* area, const float* to, int steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) area[i] = integrate(table[i % 4], 0.0f, to[i], steps);
}

// Each thread has a list of functions to apply one after the other; -1 ends it early.
extern "C" __global__ void pipeline(const int* plan, float* x, int longest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float value = x[i];
    for (int step = 0; step < longest; ++step) {
        int which = plan[i * longest + step];
        if (which < 0) break;
        Function f = table[which];
        value = f(value);
    }
    x[i] = value;
}
