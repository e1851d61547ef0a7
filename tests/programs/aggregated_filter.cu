// Warp-aggregated atomics: the threads that happen to take a branch together send one of them to the counter.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A place in the output for the calling thread: one atomic for all threads that are here together.
__device__ int next_place(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int first;
    if (active.thread_rank() == 0) first = atomicAdd(counter, active.size());
    return active.shfl(first, 0) + active.thread_rank();
}

// Keep what is above the threshold, in any order.
extern "C" __global__ void filter(const float* x, float* kept, int* count, int n, float threshold) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > threshold) kept[next_place(count)] = x[i];
}

// Split in two: small numbers from the front, large ones from the back; each branch aggregates on its own.
extern "C" __global__ void partition(const float* x, float* y, int* counts, int n, float pivot) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (x[i] < pivot)
        y[next_place(&counts[0])] = x[i];
    else
        y[n - 1 - next_place(&counts[1])] = x[i];
}
