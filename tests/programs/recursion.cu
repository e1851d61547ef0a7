// Functions that call themselves: each thread has a stack, and lanes recurse to different depths.

__device__ __noinline__ unsigned int fibonacci(unsigned int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ bool is_even(int n);
__device__ __noinline__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }
__device__ __noinline__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }

__device__ __noinline__ void quicksort(int* first, int* last) {  // both ends inclusive
    if (first >= last) return;
    int pivot = *(first + (last - first) / 2);
    int *i = first, *j = last;
    while (i <= j) {
        while (*i < pivot) ++i;
        while (*j > pivot) --j;
        if (i <= j) {
            int kept = *i;
            *i++ = *j;
            *j-- = kept;
        }
    }
    quicksort(first, j);
    quicksort(i, last);
}

extern "C" __global__ void numbers(unsigned int* fib, int* ack, int* even, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    fib[i] = fibonacci(i % 11);
    ack[i] = ackermann(i % 3, i % 5);
    even[i] = is_even(i % 17);
}

constexpr int ITEMS = 12;

// Each thread sorts a row of its own in local memory; rows are shorter than the array that holds them.
extern "C" __global__ void sort_rows(int* data, const int* length, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int own[ITEMS];
    for (int i = 0; i < length[row]; ++i) own[i] = data[row * ITEMS + i];
    quicksort(own, own + length[row] - 1);
    for (int i = 0; i < length[row]; ++i) data[row * ITEMS + i] = own[i];
}
