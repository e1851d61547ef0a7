// A shared counter starts with what the last block left there: shared memory is never cleared.
extern "C" __global__ void uninit_counter(int* y, const float* x) {
    __shared__ int count;
    int t = threadIdx.x;
#ifndef BUG
    if (t == 0) count = 0;
    __syncthreads();
#endif
    if (x[blockIdx.x * 64 + t] > 0.0f) atomicAdd(&count, 1);  // BUG: uninitialized
    __syncthreads();
    if (t == 0) y[blockIdx.x] = count;
}
