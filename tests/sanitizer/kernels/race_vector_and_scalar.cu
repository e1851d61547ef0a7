// A float4 written by one thread, its components read by others: the race is found whatever the width of the accesses.
extern "C" __global__ void race_vector_and_scalar(float* y, const float* x) {
    __shared__ __align__(16) float tile[256];
    int t = threadIdx.x;
    reinterpret_cast<float4*>(tile)[t] = reinterpret_cast<const float4*>(x)[t];  // OTHER
#ifndef BUG
    __syncthreads();  // the whole tile is written
#endif
    for (int n = 0; n < 4; ++n)
        y[n * 64 + t] = tile[n * 64 + t];  // BUG: race
}
