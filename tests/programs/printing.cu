// printf from many threads: all formats, and a text that other threads' texts never cut in two.

extern "C" __global__ void hello() { printf("block %d, thread %d of %d\n", blockIdx.x, threadIdx.x, blockDim.x); }

extern "C" __global__ void formats(const float* x, long long big) {
    int t = threadIdx.x;
    if (t % 2 == 0) printf("%2d: %8.3f|%-6d|%06.2f|%e\n", t, x[t], t * t, x[t], (double)x[t]);
    if (t == 1) {
        printf("%s and %c, %u, %x, %lld, 100%%\n", "text", 'c', 4000000000u, 48879, big);
        printf("no arguments\n");
    }
}

// Only what went wrong is printed: the first place where two arrays differ, found with a minimum.
extern "C" __global__ void report(const int* a, const int* b, int* first, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (a[i] != b[i]) atomicMin(first, i);
    __syncthreads();
    if (threadIdx.x == 0 && *first < n) printf("a[%d] = %d, but b[%d] = %d\n", *first, a[*first], *first, b[*first]);
}

// Texts that a thread spells in its own array, and that a block shares.
extern "C" __global__ void spell() {
    __shared__ char shared[4];
    char own[4] = {'t', (char)('0' + threadIdx.x), 0, 0};
    if (threadIdx.x < 4) shared[threadIdx.x] = threadIdx.x < 2 ? 'a' + blockIdx.x : 0;
    __syncthreads();
    printf("%s of %s%s\n", own, shared, threadIdx.x == 3 ? (const char*)0 : "");
}
