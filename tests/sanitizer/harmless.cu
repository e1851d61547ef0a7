// Kernels that look like bugs and are none: a sanitizer that cries wolf teaches nobody.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

#define TEXT(x) #x
#define SYNC(barrier, threads) asm volatile("bar.sync " TEXT(barrier) ", " TEXT(threads) ";" ::: "memory")
#define ARRIVE(barrier, threads) asm volatile("bar.arrive " TEXT(barrier) ", " TEXT(threads) ";" ::: "memory")

// Several writers of one value.
extern "C" __global__ void same_value(int* y) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x % 5 == 3) flag = 1;
    __syncthreads();
    y[threadIdx.x] = flag;
}

// Tiles of eight threads synchronise among themselves; the address of the reversed element wraps around zero.
extern "C" __global__ void tile_groups(int* y, const int* x) {
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = threadIdx.x;
    s[t] = x[t];
    tile.sync();
    int v = s[t / 8 * 8 + (7 - t % 8)];
    tile.sync();
    s[t] = v;
    block.sync();
    y[t] = s[127 - t];
}

// Within a warp __syncwarp is enough.
extern "C" __global__ void warp_exchange(int* y, const int* x) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncwarp();
    int v = s[t ^ 1];
    __syncwarp();
    s[t] = v + 1;
    __syncwarp();
    y[t] = s[t ^ 16];
}

// Each half of a diverged warp synchronises with itself.
extern "C" __global__ void half_warps(int* y, const int* x) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = x[t];
        __syncwarp(0x0000ffff);
        y[t] = s[15 - t];
    } else {
        s[t] = 2 * x[t];
        __syncwarp(0xffff0000);
        y[t] = s[47 - t];
    }
}

// A producer and a consumer warp hand two buffers to and fro; only named barriers stand between them.
extern "C" __global__ void handoff(float* y, const float* x, int tiles) {
    __shared__ float full[2][32];
    int lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int n = 0; n < tiles; ++n) {
        float* buffer = full[n % 2];
        if (threadIdx.x < 32) {
            if (n >= 2) {  // wait until the buffer is free again
                if (n % 2) SYNC(4, 64); else SYNC(3, 64);
            }
            buffer[lane] = x[n * 32 + lane];
            if (n % 2) ARRIVE(2, 64); else ARRIVE(1, 64);
        } else {
            if (n % 2) SYNC(2, 64); else SYNC(1, 64);
            sum += buffer[31 - lane] * (n + 1);
            if (n + 2 < tiles) {
                if (n % 2) ARRIVE(4, 64); else ARRIVE(3, 64);
            }
        }
    }
    if (threadIdx.x >= 32) y[lane] = sum;
}

// A whole warp has ended; the others meet at a barrier that counts only them.
extern "C" __global__ void ended_warp(int* y, const int* x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= 64) return;
    s[t] = x[t];
    SYNC(1, 64);
    y[t] = s[63 - t];
}

// The last block to finish adds up what all blocks left in global memory.
extern "C" __global__ void last_block(int* y, int* partial, unsigned* done, const int* x) {
    __shared__ int sum;
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * 64 + t]);
    __syncthreads();
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t > 0) return;
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b) all += ((volatile int*)partial)[b];
    *y = all;
}

// Bytes: four threads share a word, and none of them shares a byte.
extern "C" __global__ void bytes(unsigned char* y, const int* x) {
    __shared__ bool odd[100];
    int t = threadIdx.x;
    for (int i = t; i < 100; i += 64) odd[i] = x[i] & 1;
    __syncthreads();
    for (int i = t; i < 100; i += 64) y[i] = odd[99 - i];
}

// A struct with holes between its members, which nobody writes and nobody needs.
struct Holes {
    char tag;
    double value;
    short twice;
};

extern "C" __global__ void struct_with_holes(double* y, const double* x) {
    __shared__ Holes s[32];
    int t = threadIdx.x;
    s[t] = Holes{(char)t, x[t], (short)(t * 2)};
    __syncthreads();
    Holes other = s[31 - t];
    y[t] = other.value + other.tag + other.twice;
}

// Halves written one by one, read in pairs.
extern "C" __global__ void pairs_of_halves(half* y, const half* x) {
    __shared__ half s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    half2 v = *reinterpret_cast<half2*>(&s[t / 2 * 2]);
    y[t] = __hadd(v.x, v.y);
}

// Different atomics on the same places.
extern "C" __global__ void mixed_atomics(int* y, const int* x) {
    __shared__ int s[8];
    int t = threadIdx.x;
    if (t < 8) s[t] = 0;
    __syncthreads();
    atomicAdd(&s[x[t] & 7], 1);
    atomicMax(&s[(x[t] >> 3) & 7], 0);
    __syncthreads();
    if (t < 8) y[t] = s[t];
}

// Three stages of asynchronous copies with one barrier for each tile.
extern "C" __global__ void three_stages(float* y, const float* x, int tiles) {
    __shared__ __align__(16) float stage[3][128];
    int t = threadIdx.x;
    for (int n = 0; n < 2; ++n) {
        __pipeline_memcpy_async(&stage[n][4 * t], x + n * 128 + 4 * t, 16);
        __pipeline_commit();
    }
    float sum = 0.0f;
    for (int n = 0; n < tiles; ++n) {
        __pipeline_wait_prior(1);
        __syncthreads();  // this tile has landed; the one before is read
        int next = n + 2;
        if (next < tiles) __pipeline_memcpy_async(&stage[next % 3][4 * t], x + next * 128 + 4 * t, 16);
        __pipeline_commit();
        sum += stage[n % 3][127 - t] * (n + 1);
    }
    y[t] = sum;
}

// An asynchronous copy that fills with zeros what lies behind the end.
extern "C" __global__ void zero_filled(float* y, const float* x, int n) {
    __shared__ __align__(16) float row[128];
    int t = threadIdx.x;
    int inside = max(0, min(16, (n - 4 * t) * 4));
    __pipeline_memcpy_async(&row[4 * t], x + min(4 * t, n / 4 * 4), 16, 16 - inside);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int j = t; j < 128; j += 32) y[j] = row[127 - j];
}

// The counting barriers are barriers, too.
extern "C" __global__ void counting_barrier(int* y, const int* x) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    int many = __syncthreads_count(x[t] > 50);
    y[t] = s[63 - t] + many;
}

// Threads beyond the end take part in every barrier of a reduction, and store nothing.
extern "C" __global__ void idle_threads(float* y, const float* x, int n) {
    __shared__ float sum[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    sum[t] = i < n ? x[i] : 0.0f;
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) sum[t] += sum[t + step];
    }
    if (t == 0) y[blockIdx.x] = sum[0];
}

// A critical section: who holds the lock sees what those before it wrote.
extern "C" __global__ void critical_section(int* y, const int* x) {
    __shared__ int lock, sum;
    int t = threadIdx.x;
    if (t == 0) lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            sum += x[t];
            __threadfence_block();  // the sum is there before the lock is free
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    y[t] = sum;
}

// Of each four words only three are used; the compiler loads all four at once. The fourth nobody writes (in the row of
// even numbers), or thread 0 writes while the others read.
extern "C" __global__ void three_of_four(int* y, const int* x) {
    __shared__ __align__(16) int s[2][4];
    int t = threadIdx.x;
    if (t < 8 && t % 4 != 3) s[t / 4][t % 4] = x[t];
    __syncthreads();
    if (t == 0) s[1][3] = x[3];
    const int* row = s[t % 2];
    y[t] = row[0] + 2 * row[1] + 3 * row[2];
}

// Each thread keeps its longest run of rising numbers: a struct is copied whole, also what of it has no value yet.
struct Run {
    int values[6], size;
    __device__ void start() { size = 0; }
    __device__ void push(int value) { values[size++] = value; }
};

__device__ __noinline__ int sum_of(Run run) {
    int sum = 0;
    for (int i = 0; i < run.size; ++i) sum += run.values[i];
    return sum;
}

extern "C" __global__ void longest_run(int* y, const int* x) {
    Run run, best;
    run.start();
    best.start();
    for (int i = threadIdx.x; i < threadIdx.x + 6; ++i) {
        if (run.size > 0 && x[i] < x[i - 1]) run.start();
        run.push(x[i]);
        if (run.size > best.size) best = run;
    }
    y[threadIdx.x] = sum_of(best);
}

// Only thread 0 uses the value, which it wrote itself; the compiler loads it in the other threads.
extern "C" __global__ void own_total(int* y, const int* x) {
    __shared__ int total;
    int t = threadIdx.x, value = 0;
    if (t == 0) total = x[0] + x[1];
    if (t == 0) value = total;
    y[t] = value;
}
