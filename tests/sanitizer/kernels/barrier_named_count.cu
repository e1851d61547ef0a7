// Barrier 1 waits for 96 threads, but only the first 64 ever come to it: they wait for ever.
#ifdef BUG
#define PARTNERS 96
#else
#define PARTNERS 64
#endif
#define TEXT(x) #x
#define BARRIER(n) asm volatile("bar.sync 1, " TEXT(n) ";" ::: "memory")

extern "C" __global__ void barrier_named_count(float* y, const float* x) {
    __shared__ float tile[64];
    int t = threadIdx.x;  // of 128
    if (t >= 64) {
        y[t] = x[t];
        return;
    }
    tile[t] = x[t];
    BARRIER(PARTNERS);  // BUG: barrier
    y[t] = tile[63 - t];
}
