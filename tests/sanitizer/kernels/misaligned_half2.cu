// half2 over rows of odd width: the second row begins at an odd element, 2 bytes off.
#include <cuda_fp16.h>

extern "C" __global__ void misaligned_half2(float* y, const half* x, int W) {
    int pair = threadIdx.x, h = blockIdx.x;
    if (2 * pair + 1 >= W) return;
#ifdef BUG
    half2 v = *reinterpret_cast<const half2*>(x + h * W + 2 * pair);  // BUG: misaligned
#else
    half2 v = __halves2half2(x[h * W + 2 * pair], x[h * W + 2 * pair + 1]);
#endif
    y[h * (W / 2) + pair] = __low2float(v) - __high2float(v);
}
