// ldmatrix reads rows of 16 bytes; with a pitch of 20 halves every second row begins at a multiple of 8 only.
#include <cuda_fp16.h>
#ifdef BUG
#define PITCH 20
#else
#define PITCH 24
#endif

extern "C" __global__ void misaligned_ldmatrix(unsigned* y, const half* x) {
    __shared__ __align__(16) half tile[8 * PITCH];
    int lane = threadIdx.x;
    for (int i = lane; i < 64; i += 32) tile[i / 8 * PITCH + i % 8] = x[i];
    __syncwarp();
    unsigned row = (unsigned)__cvta_generic_to_shared(tile + lane % 8 * PITCH), words;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(words) : "r"(row));  // BUG: misaligned
    y[lane] = words;
}
