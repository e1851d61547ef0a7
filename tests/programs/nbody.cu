// Gravity between all pairs of bodies: a tile of positions in shared memory serves every thread of the block.

constexpr int THREADS = 64;

__device__ float3 pull(float4 self, float4 other, float softening, float3 sum) {
    float dx = other.x - self.x, dy = other.y - self.y, dz = other.z - self.z;
    float distance2 = dx * dx + dy * dy + dz * dz + softening;  // never zero, also for a body and itself
    float inverse = rsqrtf(distance2);
    float strength = other.w * inverse * inverse * inverse;  // w is the mass
    return make_float3(sum.x + dx * strength, sum.y + dy * strength, sum.z + dz * strength);
}

extern "C" __global__ void accelerate(const float4* body, float* acceleration, int n, float softening) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 self = i < n ? body[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += THREADS) {
        int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? body[j] : make_float4(0, 0, 0, 0);  // no mass, no pull
        __syncthreads();
        for (int k = 0; k < THREADS; ++k) sum = pull(self, tile[k], softening, sum);
        __syncthreads();
    }
    if (i < n) {
        acceleration[3 * i + 0] = sum.x;
        acceleration[3 * i + 1] = sum.y;
        acceleration[3 * i + 2] = sum.z;
    }
}

extern "C" __global__ void drift(float4* body, const float* velocity, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = body[i];
    p.x += velocity[3 * i + 0] * dt;
    p.y += velocity[3 * i + 1] * dt;
    p.z += velocity[3 * i + 2] * dt;
    body[i] = p;
}
