// A 7-point stencil in space: blocks and grids of three dimensions, then columns that march along z in registers.

struct Volume {
    int depth, height, width;
};

__device__ int at(Volume v, int z, int y, int x) { return (z * v.height + y) * v.width + x; }

extern "C" __global__ void laplace_3d(const float* in, float* out, Volume v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= v.width || y >= v.height || z >= v.depth) return;
    float sum = -6.0f * in[at(v, z, y, x)];
    if (x > 0) sum += in[at(v, z, y, x - 1)];  // outside the volume all is zero
    if (x < v.width - 1) sum += in[at(v, z, y, x + 1)];
    if (y > 0) sum += in[at(v, z, y - 1, x)];
    if (y < v.height - 1) sum += in[at(v, z, y + 1, x)];
    if (z > 0) sum += in[at(v, z - 1, y, x)];
    if (z < v.depth - 1) sum += in[at(v, z + 1, y, x)];
    out[at(v, z, y, x)] = sum;
}

// Each element is loaded once along z: what was ahead becomes the centre, then lies behind.
extern "C" __global__ void laplace_columns(const float* in, float* out, Volume v) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= v.width || y >= v.height) return;
    float behind = 0.0f, centre = in[at(v, 0, y, x)];
    for (int z = 0; z < v.depth; ++z) {
        float ahead = z + 1 < v.depth ? in[at(v, z + 1, y, x)] : 0.0f;
        float sum = behind + ahead - 6.0f * centre;
        sum += x > 0 ? in[at(v, z, y, x - 1)] : 0.0f;
        sum += x < v.width - 1 ? in[at(v, z, y, x + 1)] : 0.0f;
        sum += y > 0 ? in[at(v, z, y - 1, x)] : 0.0f;
        sum += y < v.height - 1 ? in[at(v, z, y + 1, x)] : 0.0f;
        out[at(v, z, y, x)] = sum;
        behind = centre;
        centre = ahead;
    }
}
