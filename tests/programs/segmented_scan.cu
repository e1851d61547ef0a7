// Segmented scan with shuffles: running sums that start again at every flag, one warp a row of any length.

constexpr unsigned ALL = 0xffffffff;

// Inclusive sums over the lanes, since the last flag; flagged tells whether there was one in this lane or before.
__device__ int scan(int value, bool& flagged) {
    int lane = threadIdx.x % 32, flag = flagged;
    for (int offset = 1; offset < 32; offset *= 2) {
        int before = __shfl_up_sync(ALL, value, offset);
        int flag_before = __shfl_up_sync(ALL, flag, offset);
        if (lane >= offset) {
            if (!flag) value += before;
            flag |= flag_before;
        }
    }
    flagged = flag;
    return value;
}

extern "C" __global__ void segmented_scan(const int* x, const unsigned char* heads, int* sums, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int carry = 0;  // the sum of the segment that is still open
    for (int start = 0; start < columns; start += 32) {
        int at = row * columns + start + lane;
        bool inside = start + lane < columns;
        bool flagged = inside && heads[at];
        int sum = scan(inside ? x[at] : 0, flagged);
        if (!flagged) sum += carry;
        if (inside) sums[at] = sum;
        carry = __shfl_sync(ALL, sum, 31);
    }
}
