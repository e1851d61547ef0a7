// Templates: one kernel for any type and any operation, unrolled by a constant, and instantiated by name.

struct Square {
    template <typename T> __device__ T operator()(T x) const { return x * x; }
};

struct Clamp {
    template <typename T> __device__ T operator()(T x) const { return x < T(-2) ? T(-2) : x > T(3) ? T(3) : x; }
};

// y[i] = operation(x[i]); each thread handles PER_THREAD elements, a block apart so that accesses coalesce.
template <typename T, typename Operation, int PER_THREAD>
__global__ void transform(const T* x, T* y, int n) {
    Operation operation;
    int first = blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; ++k) {
        int i = first + k * blockDim.x;
        if (i < n) y[i] = operation(x[i]);
    }
}

template __global__ void transform<float, Square, 4>(const float*, float*, int);
template __global__ void transform<double, Clamp, 3>(const double*, double*, int);
template __global__ void transform<short, Square, 1>(const short*, short*, int);

// What the type decides is decided when compiling: integers are added, floating-point numbers averaged.
template <typename T> struct IsInteger { static constexpr bool value = T(0.5) == T(0); };

template <typename T, typename... Rest>
__device__ auto sum_of(T first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0)
        return first;
    else
        return first + sum_of(rest...);
}

template <typename T>
__device__ void neighbours(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    auto sum = sum_of(x[i - 1], x[i], x[i + 1]);
    if constexpr (IsInteger<T>::value)
        y[i] = sum;
    else
        y[i] = sum / T(3);
}

extern "C" __global__ void neighbours_int(const int* x, int* y, int n) { neighbours(x, y, n); }
extern "C" __global__ void neighbours_float(const float* x, float* y, int n) { neighbours(x, y, n); }
