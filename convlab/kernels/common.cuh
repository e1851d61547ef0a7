// What every rung of the ladder shares: the sizes of one convolution, in the course's alphabet.
#pragma once

struct ConvSizes {
    int N, C, H, W;                    // input    x[N][C][H][W]
    int K, R, S;                       // filters  w[K][C / groups][R][S]
    int P, Q;                          // output   y[N][K][P][Q]
    int stride_h, stride_w;
    int pad_top, pad_left;             // what lies below and to the right follows from P and Q
    int dilation_h, dilation_w;
    int groups;
};

// Common filters and steps the plan tells the compiler as numbers (-DFILTER=3 -DSTRIDE=1): it unrolls the loops over R
// and S then, and the addresses of their taps cost nothing.
struct Conv : ConvSizes {
#ifdef FILTER
    static constexpr int R = FILTER, S = FILTER;
#endif
#ifdef STRIDE
    static constexpr int stride_h = STRIDE, stride_w = STRIDE, dilation_h = 1, dilation_w = 1;
#endif
};
