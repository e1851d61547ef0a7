// Two floats read as one double: the address must be a multiple of 8, and every second float's is not.
extern "C" __global__ void misaligned_double(double* y, const float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    y[i] = *reinterpret_cast<const double*>(x + 2 * i + 1);  // BUG: misaligned
#else
    y[i] = *reinterpret_cast<const double*>(x + 2 * i);
#endif
}
