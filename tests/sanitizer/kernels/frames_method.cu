// The fault lies in a method of a struct that the kernel got by value.
struct Picture {
    const float* data;
    int H, W;
    __device__ float at(int h, int w) const {
        return data[h * W + w];  // BUG: out_of_bounds
    }
};

extern "C" __global__ void frames_method(float* y, const float* x, int H, int W) {
    Picture picture = {x, H, W};
    int w = threadIdx.x, h = blockIdx.x;
    if (w >= W) return;
#ifdef BUG
    float above = picture.at(h - 1, w);  // CALLER 1
#else
    float above = h > 0 ? picture.at(h - 1, w) : 0.0f;
#endif
    y[h * W + w] = picture.at(h, w) + above;
}
