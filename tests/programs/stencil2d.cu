// A step of heat flow on a plate: a 5-point stencil whose tile in shared memory has a rim of neighbours.

constexpr int TX = 16, TY = 8;

extern "C" __global__ void heat_naive(const float* in, float* out, int height, int width, float rate) {
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    out[i] = edge ? in[i] : in[i] + rate * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width] - 4.0f * in[i]);
}

extern "C" __global__ void heat_shared(const float* in, float* out, int height, int width, float rate) {
    __shared__ float tile[TY + 2][TX + 2];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int cx = min(x, width - 1), cy = min(y, height - 1);  // threads outside repeat the border: no special case below
    tile[ty][tx] = in[cy * width + cx];
    if (threadIdx.x == 0) tile[ty][0] = in[cy * width + max(cx - 1, 0)];
    if (threadIdx.x == TX - 1) tile[ty][TX + 1] = in[cy * width + min(cx + 1, width - 1)];
    if (threadIdx.y == 0) tile[0][tx] = in[max(cy - 1, 0) * width + cx];
    if (threadIdx.y == TY - 1) tile[TY + 1][tx] = in[min(cy + 1, height - 1) * width + cx];
    __syncthreads();  // the rim belongs to other threads
    if (x >= width || y >= height) return;
    bool edge = x == 0 || y == 0 || x == width - 1 || y == height - 1;
    float own = tile[ty][tx];
    float around = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx];
    out[y * width + x] = edge ? own : own + rate * (around - 4.0f * own);
}
