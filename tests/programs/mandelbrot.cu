// The Mandelbrot set: neighbouring pixels leave the loop at different times, so the lanes of a warp diverge.

struct Frame {
    float left, top, step;
    int width, height;
};

__device__ int escape_time(float cx, float cy, int limit) {
    float x = 0.0f, y = 0.0f;
    int count = 0;
    while (count < limit && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++count;
    }
    return count;
}

extern "C" __global__ void mandelbrot(int* image, Frame frame, int limit) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= frame.width || row >= frame.height) return;
    float cx = frame.left + col * frame.step, cy = frame.top - row * frame.step;
    image[row * frame.width + col] = escape_time(cx, cy, limit);
}

// Anti-aliased: the mean of 2 × 2 points, with early exits of two kinds.
extern "C" __global__ void inside(unsigned char* mask, Frame frame, int limit) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= frame.width || row >= frame.height) return;
    int hits = 0;
    for (int sub = 0; sub < 4; ++sub) {
        float cx = frame.left + (col + 0.5f * (sub & 1)) * frame.step;
        float cy = frame.top - (row + 0.5f * (sub >> 1)) * frame.step;
        if (cx * cx + cy * cy > 4.0f) continue;  // certainly outside
        if (escape_time(cx, cy, limit) < limit) continue;
        ++hits;
        if (hits == 2) break;  // half a pixel counts as inside
    }
    mask[row * frame.width + col] = hits == 2;
}
