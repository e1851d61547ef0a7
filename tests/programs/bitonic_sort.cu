// Bitonic sort of each block's part in shared memory: which elements are compared does not depend on the data.

constexpr int ITEMS = 128;  // a power of two; one thread an item

extern "C" __global__ void sort_parts(int* data, int n) {
    __shared__ int item[ITEMS];
    int t = threadIdx.x, i = blockIdx.x * ITEMS + t;
    item[t] = i < n ? data[i] : 2147483647;  // filling sorts to the end
    for (int run = 2; run <= ITEMS; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();  // the last step's exchanges are done
            int other = t ^ step;
            if (other > t) {
                bool ascending = (t & run) == 0;
                int a = item[t], b = item[other];
                if ((a > b) == ascending) {
                    item[t] = b;
                    item[other] = a;
                }
            }
        }
    __syncthreads();
    if (i < n) data[i] = item[t];
}

// Within a warp no shared memory is needed: partners exchange by shuffle. Keys fall, each with its value.
extern "C" __global__ void sort_warps_descending(float* key, int* value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    float k = i < n ? key[i] : -__int_as_float(0x7f800000);
    int v = i < n ? value[i] : -1;
    for (int run = 2; run <= 32; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            float other_k = __shfl_xor_sync(0xffffffffu, k, step);
            int other_v = __shfl_xor_sync(0xffffffffu, v, step);
            bool first = (lane & step) == 0, descending = (lane & run) == 0;
            bool keep_larger = first == descending;
            if (keep_larger ? other_k > k : other_k < k) {
                k = other_k;
                v = other_v;
            }
        }
    if (i < n) {
        key[i] = k;
        value[i] = v;
    }
}
