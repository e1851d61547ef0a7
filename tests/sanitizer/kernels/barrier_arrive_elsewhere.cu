// The producer announces its tile at barrier 2, the consumer waits at barrier 1: nobody ever wakes it.
extern "C" __global__ void barrier_arrive_elsewhere(float* y, const float* x) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    if (t < 32) {  // the producer warp
        tile[t] = x[t];
        __threadfence_block();
#ifdef BUG
        asm volatile("bar.arrive 2, 64;" ::: "memory");
#else
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
    } else {  // the consumer warp
        asm volatile("bar.sync 1, 64;" ::: "memory");  // BUG: barrier
        y[t - 32] = tile[63 - t];
    }
}
