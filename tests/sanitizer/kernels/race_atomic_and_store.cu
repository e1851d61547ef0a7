// The counter is cleared by a plain store while other warps count already: what they added before it is lost.
extern "C" __global__ void race_atomic_and_store(int* y, const int* x) {
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 40) total = 0;  // OTHER
#ifndef BUG
    __syncthreads();  // the counter is cleared
#endif
    atomicAdd(&total, x[blockIdx.x * 64 + t]);  // BUG: race
    __syncthreads();
    if (t == 0) y[blockIdx.x] = total;
}
