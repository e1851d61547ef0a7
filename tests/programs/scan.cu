// Prefix sums: Hillis and Steele's few steps, Blelloch's few additions, and a second pass over the sums of blocks.

constexpr int THREADS = 64;
constexpr int ITEMS = 2 * THREADS;  // Blelloch's tree: two elements a thread

extern "C" __global__ void scan_hillis_steele(const int* x, int* out, int* block_sum, int n) {
    __shared__ int line[2][THREADS];  // read one, write the other: no thread overtakes another
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    int from = 0;
    line[from][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int reach = 1; reach < THREADS; reach *= 2) {
        int value = line[from][t];
        if (t >= reach) value += line[from][t - reach];
        line[1 - from][t] = value;
        from = 1 - from;
        __syncthreads();
    }
    if (i < n) out[i] = line[from][t];
    if (t == THREADS - 1) block_sum[blockIdx.x] = line[from][t];
}

extern "C" __global__ void scan_blelloch(const int* x, int* out, int* block_sum, int n) {
    __shared__ int tree[ITEMS];
    int t = threadIdx.x, base = blockIdx.x * ITEMS;
    for (int i = t; i < ITEMS; i += THREADS) tree[i] = base + i < n ? x[base + i] : 0;

    int offset = 1;
    for (int pairs = THREADS; pairs > 0; pairs /= 2) {  // up: sums of ever larger parts
        __syncthreads();
        if (t < pairs) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) {  // who also added the last two: no barrier is needed
        block_sum[blockIdx.x] = tree[ITEMS - 1];
        tree[ITEMS - 1] = 0;
    }
    for (int pairs = 1; pairs < ITEMS; pairs *= 2) {  // down: what stands before each part
        offset /= 2;
        __syncthreads();
        if (t < pairs) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int before = tree[left];
            tree[left] = tree[right];
            tree[right] += before;
        }
    }
    __syncthreads();
    for (int i = t; i < ITEMS; i += THREADS)
        if (base + i < n) out[base + i] = tree[i];
}

extern "C" __global__ void add_offsets(int* out, const int* offset, int items, int n) {
    for (int i = threadIdx.x; i < items; i += blockDim.x) {
        int at = blockIdx.x * items + i;
        if (at < n) out[at] += offset[blockIdx.x];
    }
}
