// Cooperative groups: tiles of 32 and of 8 threads that reduce, each on its own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int SIZE>
__device__ int reduced(const cg::thread_block_tile<SIZE>& tile, int value) {
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
    return value;  // the whole sum in the tile's thread 0
}

// One sum for each SIZE elements; a block starts at a multiple of its size.
template <int SIZE>
__device__ void sums(const int* x, int* out, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<SIZE>(block);
    int i = block.group_index().x * block.size() + block.thread_rank();
    int sum = reduced<SIZE>(tile, i < n ? x[i] : 0);
    if (tile.thread_rank() == 0 && i < n) out[i / SIZE] = sum;
}

extern "C" __global__ void sum_32(const int* x, int* out, int n) { sums<32>(x, out, n); }

extern "C" __global__ void sum_8(const int* x, int* out, int n) { sums<8>(x, out, n); }

// One sum a block: tiles first, then the first tile over their sums.
extern "C" __global__ void sum_block(const int* x, int* out, int n) {
    __shared__ int partial[32];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = reduced<32>(warp, i < n ? x[i] : 0);
    if (warp.thread_rank() == 0) partial[warp.meta_group_rank()] = sum;
    block.sync();  // all partial sums are written
    if (warp.meta_group_rank() == 0) {
        sum = reduced<32>(warp, warp.thread_rank() < warp.meta_group_size() ? partial[warp.thread_rank()] : 0);
        if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
    }
}

// The library's own reductions: the largest, and a sum of floats, of each tile of 16, known to all its threads.
extern "C" __global__ void reduce_16(const int* x, const float* y, int* largest, float* sum, int n) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int high = cg::reduce(tile, i < n ? x[i] : -2147483647, cg::greater<int>());
    float total = cg::reduce(tile, i < n ? y[i] : 0.0f, cg::plus<float>());
    if (i < n) {
        largest[i] = high;
        sum[i] = total;
    }
}
