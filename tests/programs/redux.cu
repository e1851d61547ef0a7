// __reduce_add_sync and its relatives: one instruction reduces the integers of a warp (compute capability 8.0).

constexpr unsigned ALL = 0xffffffff;

// Six reductions for each warp's 32 elements; the last warp may have fewer, and says so in its mask.
extern "C" __global__ void statistics(const int* x, int* signed_out, unsigned* unsigned_out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32;
    unsigned mask = __ballot_sync(ALL, i < n);
    if (i >= n) return;
    int sum = __reduce_add_sync(mask, x[i]);
    int low = __reduce_min_sync(mask, x[i]);
    int high = __reduce_max_sync(mask, x[i]);
    unsigned bits = (unsigned)x[i];
    unsigned both = __reduce_and_sync(mask, bits), any = __reduce_or_sync(mask, bits);
    unsigned odd = __reduce_xor_sync(mask, bits), top = __reduce_max_sync(mask, bits);
    if (threadIdx.x % 32 == 0) {
        signed_out[3 * warp] = sum;
        signed_out[3 * warp + 1] = low;
        signed_out[3 * warp + 2] = high;
        unsigned_out[4 * warp] = both;
        unsigned_out[4 * warp + 1] = any;
        unsigned_out[4 * warp + 2] = odd;
        unsigned_out[4 * warp + 3] = top;
    }
}
