// layout_naive: change the layout element by element.
//
// Idea             to move NCHW to NHWC is to transpose each image's matrix of C rows and H·W columns, and back, that
//                  of H·W rows and C columns: an element at (row, col) goes to (col, row).
// Parallelisation  a thread for an element, in the order in which they are read; blockIdx.y is the image n.
// Expected limit   scattered stores: neighbouring lanes read neighbours, but write one row length apart.
// Prediction       one sector of 32 bytes for each 4-byte store where rows >= 8: 8 times what is needed.
// Honest negatives the L2 may put the scattered pieces together again, while they last: DRAM sees less than 8 times.
extern "C" __global__ void layout_naive(const float* __restrict__ x,  // [N][rows][cols]
                                        float* __restrict__ y,        // [N][cols][rows]
                                        int rows, int cols) {
    int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= rows * cols) return;  // the last block may be larger than what is left
    int row = element / cols, col = element % cols;
    size_t image = (size_t)blockIdx.y * rows * cols;
    y[image + (size_t)col * rows + row] = x[image + element];
}
