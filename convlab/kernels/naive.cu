// naive: one thread computes one output element.
//
// Idea             the sum over (c, r, s) of the definition, as three loops; nothing is shared between threads.
// Parallelisation  blockIdx.x/threadIdx.x number the N*K*P*Q outputs in memory order, so neighbouring lanes
//                  compute neighbouring q.
// Expected limit   every input element is fetched from L1 again for each window and each filter that needs it:
//                  R*S*K/G loads of each, one fused multiply-add per two loads.
// What it lacks    no reuse by hand, no tile, and the index is taken apart with divisions.

struct Conv {                        // one convolution; the letters are the course's alphabet
    int n, c, h, w;                  // input   x[n][c][h][w]
    int k, r, s;                     // filters weight[k][c / groups][r][s]
    int p, q;                        // output  y[n][k][p][q]
    int stride_h, stride_w;
    int pad_top, pad_left;           // bottom and right follow from p and q
    int dilation_h, dilation_w;
    int groups;
};

extern "C" __global__ void conv_naive(const float* __restrict__ x,
                                      const float* __restrict__ weight,
                                      const float* __restrict__ bias,   // null: no bias
                                      float* __restrict__ y, Conv v) {
    long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= (long long)v.n * v.k * v.p * v.q) return;

    int q = index % v.q;
    int p = index / v.q % v.p;
    int k = index / v.q / v.p % v.k;
    int n = index / v.q / v.p / v.k;
    int cg = v.c / v.groups;
    int first = k / (v.k / v.groups) * cg;

    float sum = bias ? bias[k] : 0.0f;
    for (int c = 0; c < cg; ++c)
        for (int r = 0; r < v.r; ++r) {
            int h = p * v.stride_h - v.pad_top + r * v.dilation_h;
            if (h < 0 || h >= v.h) continue;
            for (int s = 0; s < v.s; ++s) {
                int w = q * v.stride_w - v.pad_left + s * v.dilation_w;
                if (w < 0 || w >= v.w) continue;
                sum += x[((long long)(n * v.c + first + c) * v.h + h) * v.w + w]
                     * weight[((k * cg + c) * v.r + r) * v.s + s];
            }
        }
    y[index] = sum;
}
