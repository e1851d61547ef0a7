// Named barriers: one warp produces, another consumes, and neither waits longer than for its buffer.

constexpr int SIZE = 32, THREADS = 64;

// Barriers 1 and 2: buffer 0, 1 is empty; barriers 3 and 4: it is full. Each counts both warps.
__device__ void wait(int barrier) { asm volatile("bar.sync %0, 64;" :: "r"(barrier) : "memory"); }

// Arrive and go on: what was written before is visible to those who wait.
__device__ void signal(int barrier) { asm volatile("bar.arrive %0, 64;" :: "r"(barrier) : "memory"); }

// y[i] = the sum of x's piece i of 32 elements, squared one by one by the producer; a block has every gridDim.x-th.
extern "C" __global__ void __launch_bounds__(THREADS) pipeline(const int* x, int* y, int pieces) {
    __shared__ int buffer[2][SIZE];
    int lane = threadIdx.x % 32;
    bool producer = threadIdx.x < 32;
    int round = 0;
    if (producer) {
        for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++round) {
            int which = round % 2;
            if (round >= 2) wait(1 + which);  // the first two rounds find their buffer empty
            int value = x[piece * SIZE + lane];
            buffer[which][lane] = value * value;
            signal(3 + which);
        }
    } else {
        int rounds = (pieces - (int)blockIdx.x + (int)gridDim.x - 1) / (int)gridDim.x;
        for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x, ++round) {
            int which = round % 2;
            wait(3 + which);
            int sum = buffer[which][lane];
            if (round + 2 < rounds) signal(1 + which);  // nobody waits for the last two
            for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
            if (lane == 0) y[piece] = sum;
        }
    }
}
