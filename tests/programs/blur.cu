// Pictures of bytes: colour to grey with integer weights, and a box blur that counts only pixels inside.

extern "C" __global__ void grey(const unsigned char* rgb, unsigned char* out, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    out[i] = static_cast<unsigned char>((77 * r + 150 * g + 29 * b) >> 8);  // the weights add up to 256
}

extern "C" __global__ void box_blur(const unsigned char* in, unsigned char* out, int height, int width, int radius) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    unsigned int sum = 0, count = 0;
    for (int row = max(y - radius, 0); row <= min(y + radius, height - 1); ++row)
        for (int col = max(x - radius, 0); col <= min(x + radius, width - 1); ++col) {
            sum += in[row * width + col];
            ++count;
        }
    out[y * width + x] = static_cast<unsigned char>((sum + count / 2) / count);  // rounded
}

// Brighter by a signed amount: bytes neither wrap nor fall below zero.
extern "C" __global__ void brighten(unsigned char* picture, const signed char* amount, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pixels) picture[i] = static_cast<unsigned char>(min(max(picture[i] + amount[i], 0), 255));
}
