// The mask must name every lane that calls; this one leaves lane 0 out.
extern "C" __global__ void shuffle_mask_omits_caller(int* y, const int* x) {
    int value = x[threadIdx.x];
#ifdef BUG
    y[threadIdx.x] = __shfl_sync(0xfffffffe, value, 5);  // BUG: shuffle
#else
    y[threadIdx.x] = __shfl_sync(0xffffffff, value, 5);
#endif
}
