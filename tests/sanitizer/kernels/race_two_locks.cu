// Each warp takes a lock, but not the same one: both are in the critical section at a time.
extern "C" __global__ void race_two_locks(int* y, const int* x) {
    __shared__ int locks[2], sum;
    int t = threadIdx.x;
    if (t == 0) locks[0] = locks[1] = sum = 0;
    __syncthreads();
#ifdef BUG
    int* lock = &locks[t / 32];
#else
    int* lock = &locks[0];
#endif
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            sum += x[t];  // BUG: race
            __threadfence_block();  // the sum is there before the lock is free
            atomicExch(lock, 0);
            done = true;
        }
    }
    __syncthreads();
    y[t] = sum;
}
