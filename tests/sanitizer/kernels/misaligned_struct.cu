// Records of 8 bytes behind a header of 4: the compiler trusts that a Pair lies at a multiple of 8.
struct __align__(8) Pair {
    float value;
    int index;
};

extern "C" __global__ void misaligned_struct(float* y, const char* file, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef BUG
    Pair p = reinterpret_cast<const Pair*>(file + 4)[i];  // BUG: misaligned
#else
    const float* words = reinterpret_cast<const float*>(file + 4);
    Pair p = {words[2 * i], __float_as_int(words[2 * i + 1])};
#endif
    y[i] = p.value * p.index;
}
