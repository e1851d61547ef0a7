// Warp votes: a warp searches a row for its first hit, and stops as soon as one lane has found it.

constexpr unsigned ALL = 0xffffffff;

// first[row] is the lowest column with x > threshold, or -1.
extern "C" __global__ void find_first(const float* x, int* first, int rows, int columns, float threshold) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int found = -1;
    for (int start = 0; start < columns; start += 32) {
        int column = start + lane;
        bool hit = column < columns && x[row * columns + column] > threshold;
        unsigned hits = __ballot_sync(ALL, hit);
        if (hits) {  // the same for all lanes: they leave together
            found = start + __ffs(hits) - 1;
            break;
        }
    }
    if (lane == 0) first[row] = found;
}

// Newton's iteration for square roots: the warp goes on until all lanes are content; steps counts the rounds.
extern "C" __global__ void roots(const double* x, double* y, int* steps, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double square = i < n ? x[i] : 1.0, root = square > 1.0 ? square : 1.0;
    int rounds = 0;
    while (!__all_sync(ALL, fabs(root * root - square) <= 1e-12 * square)) {
        root = 0.5 * (root + square / root);
        ++rounds;
    }
    bool slow = __any_sync(ALL, square > 1e6);
    if (i < n) {
        y[i] = root;
        steps[i] = slow ? -rounds : rounds;
    }
}
