// What feeds Tensor Cores by hand: one function for each instruction, and what stands for it before Ampere (sm_75).
//
// A fragment's rows are 32 bytes along k, 16 halves or 8 floats: numbers 0 to 7, of 4 bytes. Lane 4g + t holds
//   of A (16 rows), number t of row g, of row g + 8, then number t + 4 of both;
//   of B (8 columns), numbers t and t + 4 of column g;
//   of the sums, row g at columns 2t and 2t + 1, then row g + 8 there.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if __CUDA_ARCH__ >= 800
#define AMPERE 1
#endif

__device__ inline unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }

// Starts to copy 16 bytes to shared memory, past the registers and the L1; zeros where they lie outside, unread.
__device__ inline void copy_async(unsigned to, const void* from, bool inside) {
#ifdef AMPERE
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
#else
    *(uint4*)__cvta_shared_to_generic(to) = inside ? *(const uint4*)from : uint4{};
#endif
}

// Ends a group: the copies that this thread has started since the last one.
__device__ inline void commit_copies() {
#ifdef AMPERE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits for this thread's copies, except for those of the newest so many groups.
template <int NEWEST> __device__ void wait_for_copies() {
#ifdef AMPERE
    asm volatile("cp.async.wait_group %0;" :: "n"(NEWEST) : "memory");
#endif
}

// Four matrices of 8 rows of 16 bytes, one a register: lane i gives the address of row i % 8 of matrix i / 8, and lane
// 4g + t gets number t of row g of each, as fragments want it.
__device__ inline void load_matrices(unsigned (&r)[4], unsigned row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}

// c += a · b for a of 16 rows, b of 8 columns, and 32 bytes along k; sums are float.
template <typename T> __device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    static_assert(sizeof(T) == 0, "Tensor Cores multiply half; since Ampere also __nv_bfloat16, and float as TF32");
}

// What a fragment's numbers need before they are multiplied.
template <typename T> __device__ void round_factors(unsigned (&)[4]) {}

#ifdef AMPERE
#define MULTIPLY_ADD(SHAPE_AND_TYPES)                                                                             \
    asm("mma.sync.aligned." SHAPE_AND_TYPES " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"     \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                          \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))

template <> __device__ inline void multiply_add<half>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    MULTIPLY_ADD("m16n8k16.row.col.f32.f16.f16.f32");
}

template <>
__device__ inline void multiply_add<__nv_bfloat16>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    MULTIPLY_ADD("m16n8k16.row.col.f32.bf16.bf16.f32");
}

template <>
__device__ inline void multiply_add<float>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    MULTIPLY_ADD("m16n8k8.row.col.f32.tf32.tf32.f32");
}

// To nearest: the Tensor Core would cut off the 13 bits that TF32 lacks.
template <> __device__ inline void round_factors<float>(unsigned (&r)[4]) {
    for (unsigned& bits : r) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(bits)));
}
#else
// Turing multiplies 16 bytes along k at a time: first the one half of the registers, then the other.
template <> __device__ inline void multiply_add<half>(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    unsigned b[2] = {b0, b1};
    for (int i = 0; i < 2; ++i)
        asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[2 * i]), "r"(a[2 * i + 1]), "r"(b[i]));
}
#endif
