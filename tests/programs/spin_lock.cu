// Locks made of compare-and-swap: by thread, by block, and one for each bucket of a table.

__device__ int mutex = 0;

__device__ void acquire(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();  // what the last owner wrote is seen from here on
}

__device__ void release(int* lock) {
    __threadfence();  // what this owner wrote is seen before the lock opens
    atomicExch(lock, 0);
}

// Every thread, also each lane of one warp, enters in turn: this needs the forward progress of Volta and later.
extern "C" __global__ void count_with_lock(volatile int* account) {
    acquire(&mutex);
    account[0] = account[0] + 1;
    account[1] = account[1] + threadIdx.x;
    release(&mutex);
}

// One thread enters for its block: value and index of the largest element change together.
extern "C" __global__ void largest(const int* x, volatile int* best, int n) {
    __shared__ int value, index;
    if (threadIdx.x == 0) {
        value = -2147483647 - 1;
        index = n;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&value, x[i]);
    __syncthreads();
    if (i < n && x[i] == value) atomicMin(&index, i);
    __syncthreads();
    if (threadIdx.x == 0) {
        acquire(&mutex);
        if (value > best[0] || (value == best[0] && index < best[1])) {
            best[0] = value;
            best[1] = index;
        }
        release(&mutex);
    }
}

// Lists of a hash table grow at their heads; the loop leaves from inside, so that a lane which holds a lock can go on.
extern "C" __global__ void insert(const int* key, volatile int* head, volatile int* next, int* lock, int buckets,
                                  int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int bucket = key[i] % buckets;
    for (bool done = false; !done;) {
        if (atomicCAS(&lock[bucket], 0, 1) == 0) {
            __threadfence();
            next[i] = head[bucket];
            head[bucket] = i;
            __threadfence();
            atomicExch(&lock[bucket], 0);
            done = true;
        }
    }
}
