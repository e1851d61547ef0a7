// What every rung of the ladder shares: the sizes of one convolution, in the course's alphabet.
#pragma once

struct Conv {
    int N, C, H, W;                    // input    x[N][C][H][W]
    int K, R, S;                       // filters  w[K][C / groups][R][S]
    int P, Q;                          // output   y[N][K][P][Q]
    int stride_h, stride_w;
    int pad_top, pad_left;             // what lies below and to the right follows from P and Q
    int dilation_h, dilation_w;
    int groups;
};
