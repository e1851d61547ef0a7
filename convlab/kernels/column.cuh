// One column of X_col without the matrix: what the window of one output pixel holds, element by element.
#pragma once
#include "window.cuh"

struct Column {
    const float* plane;                // of the element's channel
    int channels;                      // still to come, this one among them
    int top, left;                     // where the window starts, be it in the padding
    int r, s;                          // the element's tap

    // The elements from the top down, as W has them: channel after channel, tap after tap; zeros past the last.
    __device__ float next(const Conv& v) {
        unsigned h = top + r * v.dilation_h, col = left + s * v.dilation_w;  // unsigned, -1 is larger than any size
        float value = h < v.H && col < v.W ? plane[h * v.W + col] : 0.0f;
        if (++s == v.S) {
            s = 0;
            if (++r == v.R) {
                r = 0;
                plane += v.H * v.W;
                if (--channels == 0) top = v.H;  // below the image all is zero
            }
        }
        return value;
    }
};

// The column of a pixel, counted through all images, in a group's X_col.
__device__ Column column_of(int pixel, int group, const float* x, const Conv& v) {
    int channels = v.C / v.groups;
    Window<float> window = window_of(pixel, x + (size_t)group * channels * v.H * v.W, v);
    return {window.image, channels, window.top, window.left, 0, 0};
}
