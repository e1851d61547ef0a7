// Bitonic sort in registers: 32 lanes exchange keys and values with __shfl_xor_sync, without shared memory.

constexpr unsigned ALL = 0xffffffff;

// Keep the smaller or the larger of this lane's and its partner's key, and the value that belongs to it.
__device__ void exchange(int& key, int& value, int distance, bool ascending) {
    int other_key = __shfl_xor_sync(ALL, key, distance);
    int other_value = __shfl_xor_sync(ALL, value, distance);
    bool lower = (threadIdx.x & distance) == 0;
    bool smaller = other_key < key || (other_key == key && other_value < value);
    if (smaller == (lower == ascending)) {
        key = other_key;
        value = other_value;
    }
}

// Each warp sorts its 32 pairs; places behind n count as infinitely large.
extern "C" __global__ void sort(int* keys, int* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int key = i < n ? keys[i] : 0x7fffffff, value = i < n ? values[i] : 0x7fffffff;
    for (int size = 2; size <= 32; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2)
            exchange(key, value, distance, (lane & size) == 0);  // lane & 32 is never set: the last round ascends
    if (i < n) {
        keys[i] = key;
        values[i] = value;
    }
}
