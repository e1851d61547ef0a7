// A 64-bit counter behind a 32-bit one: atomics, too, need their natural alignment.
extern "C" __global__ void misaligned_atomic(unsigned int* y, const int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(y, 1u);
#ifdef BUG
    atomicAdd(reinterpret_cast<unsigned long long*>(y + 1), (unsigned long long)x[i]);  // BUG: misaligned
#else
    atomicAdd(reinterpret_cast<unsigned long long*>(y + 2), (unsigned long long)x[i]);
#endif
}
