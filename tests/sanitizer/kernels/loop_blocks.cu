// A barrier between blocks that waits for one block more than there are.
extern "C" __global__ void loop_blocks(int* y, int* arrived, const int* x) {
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + t]);
    __syncthreads();
#ifdef BUG
    int blocks = gridDim.x + 1;
#else
    int blocks = gridDim.x;
#endif
    if (t == 0) {
        atomicAdd(y, sum);
        __threadfence();  // my sum is visible before I say that I arrived
        atomicAdd(arrived, 1);
        while (*(volatile int*)arrived < blocks) {}  // BUG: endless_loop
        y[1 + blockIdx.x] = *(volatile int*)y;
    }
}
