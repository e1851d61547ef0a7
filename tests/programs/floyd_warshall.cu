// Shortest paths between all pairs: n launches, each tries one more stop on the way.

constexpr int FAR = 1 << 29;  // twice of it still fits an int

extern "C" __global__ void relax(int* distance, int* via, int stop, int n) {
    int to = blockIdx.x * blockDim.x + threadIdx.x;
    int from = blockIdx.y * blockDim.y + threadIdx.y;
    if (from >= n || to >= n) return;
    int detour = distance[from * n + stop] + distance[stop * n + to];  // row and column of the stop do not change
    if (detour < distance[from * n + to]) {
        distance[from * n + to] = detour;
        via[from * n + to] = stop;
    }
}

// A small graph fits one block: the loop over stops moves into the kernel, with barriers for launches.
extern "C" __global__ void paths_in_block(int* distance, int n) {
    __shared__ int d[24][24];
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) d[i / n][i % n] = distance[i];
    __syncthreads();
    for (int stop = 0; stop < n; ++stop) {
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int from = i / n, to = i % n;
            if (from == stop || to == stop) continue;  // these are read by others and would not change
            d[from][to] = min(d[from][to], d[from][stop] + d[stop][to]);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) distance[i] = d[i / n][i % n];
}

extern "C" __global__ void count_reachable(const int* distance, int* count, int n) {
    int from = blockIdx.x;
    int own = 0;
    for (int to = threadIdx.x; to < n; to += blockDim.x) own += distance[from * n + to] < FAR;
    atomicAdd(&count[from], own);
}
