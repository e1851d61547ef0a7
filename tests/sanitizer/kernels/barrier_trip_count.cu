// A barrier in a loop whose trip count differs from thread to thread: some wait in the loop, the others behind it.
extern "C" __global__ void barrier_trip_count(int* y, const int* trips, int most) {
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
#ifdef BUG
    for (int n = 0; n < trips[t]; ++n) {
        atomicAdd(&total, 1);
        __syncthreads();  // BUG: barrier
    }
    __syncthreads();  // BUG: barrier
    y[t] = trips[t];
#else
    for (int n = 0; n < most; ++n) {
        if (n < trips[t]) atomicAdd(&total, 1);
        __syncthreads();
    }
    y[t] = total;
#endif
}
