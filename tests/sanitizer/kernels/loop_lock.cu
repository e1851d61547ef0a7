// The lock is taken and never released: the next thread waits for it until the end of time.
extern "C" __global__ void loop_lock(int* y, int* lock, const int* x) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // BUG: endless_loop
    *(volatile int*)y += x[blockIdx.x * blockDim.x + threadIdx.x];
    __threadfence();  // the sum is visible before the lock is free
#ifndef BUG
    atomicExch(lock, 0);
#endif
}
