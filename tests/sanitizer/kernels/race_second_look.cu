// All warps read the sum; the first one reads it again and overwrites it, while a slow warp has yet to read it once.
extern "C" __global__ void race_second_look(int* y, const int* x) {
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[t]);
    __syncthreads();
    int total = sum;  // OTHER
#ifndef BUG
    __syncthreads();  // all have read the sum
#endif
    if (t < 32) {
        __syncwarp();
        int again = sum;
        __syncwarp();
        if (t == 0) sum = again / 2;  // BUG: race
    }
    __syncthreads();
    y[t] = total + sum;
}
