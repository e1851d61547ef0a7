// The counter is read while other warps still add to it: each thread may see another total.
extern "C" __global__ void race_read_of_counter(int* y, const float* x) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    if (x[blockIdx.x * 64 + t] > 0.0f) atomicAdd(&count, 1);  // OTHER
#ifndef BUG
    __syncthreads();  // all have counted
#endif
    y[blockIdx.x * 64 + t] = count;  // BUG: race
}
