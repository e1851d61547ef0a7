// Dynamic shared memory: the launch gives the size, the kernel divides it into arrays, the widest type first.

extern __shared__ __align__(8) unsigned char memory[];

// The mean of each class: sums and counts of a block, whose number of classes only the launch knows.
extern "C" __global__ void class_sums(const int* label, const float* x, double* sum, int* count, int classes, int n) {
    double* own_sum = reinterpret_cast<double*>(memory);
    int* own_count = reinterpret_cast<int*>(own_sum + classes);
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        own_sum[c] = 0.0;
        own_count[c] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own_sum[label[i]], (double)x[i]);
        atomicAdd(&own_count[label[i]], 1);
    }
    __syncthreads();
    for (int c = threadIdx.x; c < classes; c += blockDim.x) {
        atomicAdd(&sum[c], own_sum[c]);
        atomicAdd(&count[c], own_count[c]);
    }
}

// The same bytes, used one after the other for two purposes: reverse the block's part, then rotate it.
extern "C" __global__ void reverse_and_rotate(const int* in, int* reversed, short* rotated, int by, int n) {
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int size = min(blockDim.x, n - blockIdx.x * blockDim.x);  // of this block's part
    int* words = reinterpret_cast<int*>(memory);
    if (t < size) words[t] = in[i];
    __syncthreads();
    int value = t < size ? words[size - 1 - t] : 0;
    if (t < size) reversed[i] = value;
    __syncthreads();  // all words are read before the halves overwrite them
    short* halves = reinterpret_cast<short*>(memory);
    if (t < size) halves[t] = static_cast<short>(value);
    __syncthreads();
    if (t < size) rotated[i] = halves[(t + by) % size];
}
