"""What wrong answers stand for in lessons 00 to 03: the kernel, the loops, the index."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "line not changed": (
        "The line still adds a and b.",
        "Run the cell with the kernel after you changed it: the check sees the compiled one.",
    ),
    "the other array doubled": (
        "b is doubled instead of a.",
        "Which of the two stands behind the 2 in the formula?",
    ),
    "the sum doubled": (
        "The sum is doubled, not a alone.",
        "Work out a = 1, b = 10 by hand, then look at your parentheses.",
    ),
    "one array missing": (
        "One of the two arrays is missing from the line.",
        "Each output needs a[i] and b[i].",
    ),
    "squared, not doubled": (
        "a is squared, not doubled.",
        "Work out a = 3 by hand: 6 or 9?",
    ),
    "two added, not multiplied": (
        "2 is added to a, not multiplied by it.",
        "Work out a = 5, b = 0 by hand: 7 or 10?",
    ),
    "multiplied, not added": (
        "The two arrays are multiplied, not added.",
        "What stands between 2·a and b in the formula?",
    ),
    "subtracted, not added": (
        "One array is subtracted, not added.",
        "What stands between 2·a and b in the formula?",
    ),
    "last element missing": (
        "The last element is never written.",
        "The indices run from 0 to n − 1. Which of them does your `if` let through?",
    ),
    "only the first block": (
        "Only the first block's elements are written.",
        "Which element belongs to thread 0 of block 1?",
    ),
    "stride and padding swapped": (
        "Stride and padding are swapped.",
        "Which of the two says how far a window moves, and which how far it reaches outside?",
    ),
    "vertical and horizontal stride swapped": (
        "The vertical and the horizontal stride are swapped.",
        "The first number of the pair belongs to the rows. Follow it into every line that uses it.",
    ),
    "vertical and horizontal padding swapped": (
        "The vertical and the horizontal padding are swapped.",
        "The first number of the pair belongs to the rows. Follow it into every line that uses it.",
    ),
    "first number of a pair used for the columns": (
        "The first number of a pair, which belongs to the rows, is used for the columns as well.",
        "Look at every line about columns: which number of stride and of padding does it use?",
    ),
    "stride ignored": (
        "Windows move by one pixel, as if the stride were 1.",
        "Write down the first input row of the windows p = 0, 1 and 2, then compare with your index.",
    ),
    "stride missing in one direction": (
        "In one direction the windows move by one pixel, as if the stride were 1.",
        "Compare your line for the row with that for the column.",
    ),
    "stride applied to the tap": (
        "The stride also spreads the taps inside a window; only the window as a whole should move by it.",
        "Two neighbouring taps of one window: how many pixels apart are the pixels they read?",
    ),
    "padding left out of the index": (
        "Windows start too late: the first one begins inside the input, not in the padding.",
        "With padding 1, which input row does the first tap of output row 0 meet?",
    ),
    "padding missing in one direction": (
        "In one direction the windows begin inside the image, not in the padding.",
        "Compare your line for the row with that for the column.",
    ),
    "padding multiplied by the stride": (
        "The stride multiplies the padding as well as the output's row and column.",
        "The padding is a number of pixels. What does the stride count: pixels, or steps of the window?",
    ),
    "stride and padding left out": (
        "Stride and padding are both left out: the window begins at row p and column q.",
        "Which input row does the first tap of output row 2 meet, with stride 2 and padding 1?",
    ),
    "padding counted twice": (
        "The padding is counted twice: once as a frame around the image, and once more in the index.",
        "In the image with its frame, where does the window of output (0, 0) begin?",
    ),
    "padding added, not subtracted": (
        "The padding has the wrong sign in the index.",
        "Padding puts zeros before the first pixel. Does that move the first window up or down?",
    ),
    "padding left out altogether": (
        "The padding is not used at all.",
        "The padding matters in two places: how many windows fit, and where each begins.",
    ),
    "padding counted on one side": (
        "The output size counts the padding on one side only.",
        "Draw one row of the padded input. How many cells does it have?",
    ),
    "window starts one pixel late": (
        "Every window begins one row and one column too far.",
        "Python counts from 0. Work out by hand where the window of output (0, 0) begins.",
    ),
    "last output missing": (
        "The last row and the last column of the output are missing.",
        "Count windows on paper for H = 5, R = 3, stride 1. How many positions are there?",
    ),
    "output size rounded up": (
        "The output size is rounded up, so the last window hangs over the edge.",
        "A window that doesn't fit whole into the padded input gives no output.",
    ),
    "negative indices wrap around": (
        "At the top and left, pixels of the far side appear: a negative index counts from the end.",
        "In Python x[-1] is no error. Which taps must be skipped before the pixel is read?",
    ),
    "edge pixels repeated": (
        "Outside the image the nearest pixel is used, where zero padding was asked for.",
        "What is the product of a weight and a padding pixel?",
    ),
    "border pixels taken for padding": (
        "The image's first or last row and column are skipped, as if they were padding.",
        "Which numbers has the first row of the image, and which the last one? Look at your < and <=.",
    ),
    "window ended at the padding": (
        "The window's row ends at its first tap in the padding, though those behind it may lie in the image.",
        "What does break leave, and what does it skip?",
    ),
    "kernel flipped": (
        "The kernel is flipped: this is the convolution of mathematics, not that of neural networks.",
        "Here w[0, 0] meets the top left pixel of the window.",
    ),
    "rows and columns of the kernel swapped": (
        "The kernel is transposed: its rows are used as columns.",
        "Compare the order of r and s in the index of w with the order in the index of x.",
    ),
    "output row and column swapped": (
        "The output's row and column are swapped.",
        "p counts rows and goes with h; q counts columns and goes with w.",
    ),
    "rows and columns of the image swapped": (
        "The image is read with its row and its column swapped.",
        "In which order do the row and the column stand in the shape of x?",
    ),
    "last row and column of the window missing": (
        "The last row or column of the window is left out.",
        "How many values does range(R - 1) give?",
    ),
    "first row and column of the window missing": (
        "The first row or column of the window is left out.",
        "Which index has the first tap?",
    ),
    "only the first channel": (
        "Only the first input channel is used.",
        "One output looks at all input channels. Which loop does that?",
    ),
    "one channel of the filter for all": (
        "All channels of the input are multiplied by the filter's first one.",
        "Which index of w is the channel?",
    ),
    "only the last channel": (
        "Only the last input channel is left in the sum.",
        "Where is the sum set to zero: before the loop over channels, or in it?",
    ),
    "channels averaged": (
        "The channels are averaged.",
        "A convolution sums over the input channels.",
    ),
    "sum overwritten": (
        "Only the last product is left: each one overwrites those before it.",
        "Find the line with the product. Does it add to the sum, or replace it?",
    ),
    "sum not set to zero": (
        "The sum goes on from one output to the next.",
        "Each output starts its own sum. Where is it set to zero?",
    ),
    "returned too early": (
        "The function returns before its loops have ended.",
        "How deep is your return indented? It should stand behind all loops.",
    ),
    "bias missing": (
        "The bias is missing.",
        "The products are not all: what does each filter add to their sum?",
    ),
    "one bias for all outputs": (
        "All output channels get the first bias.",
        "bias has one number for each filter. Which one belongs to output channel k?",
    ),
    "bias added too often": (
        "The bias is added more than once for each output.",
        "At which depth of your loops is the bias added?",
    ),
    "batch index ignored": (
        "Every image of the batch gets the result of the first one.",
        "Look at the first index of x.",
    ),
    "one filter for all outputs": (
        "Every output channel uses the first filter.",
        "Look at the first index of w.",
    ),
    "row and column of the pixel swapped": (
        "The row and the column of a thread's pixel are swapped.",
        "Neighbouring threads should have neighbouring columns. Which of / and % gives that?",
    ),
    "rows of P pixels": (
        "The plane is numbered as if it had Q rows of P pixels.",
        "How many outputs stand in one row? And which of / and % counts the rows?",
    ),
    "pixels numbered down the columns": (
        "The outputs are right, but neighbouring threads have pixels one below the other, so stores take more sectors.",
        "Thread 0 has output [0, 0]. Which one has thread 1, if the pixels are numbered row by row?",
    ),
    "block left out of the pixel's number": (
        "A block's first pixel is not the one behind the last pixel of the block before.",
        "Block 0 has as many pixels as threads. Which is the first pixel of block 1?",
    ),
    "filter and image exchanged": (
        "blockIdx.y is taken for the image, and blockIdx.z for the filter.",
        "Read the task again: which of the two counts the filters?",
    ),
    "pixel divided by the wrong size": (
        "The pixel's number is divided by a size that is not the length of an output row.",
        "How many outputs stand in one row of the output?",
    ),
    "bounds of the last block missing": (
        "Threads of the last block go on although there is no pixel left for them.",
        "The grid has more threads than there are pixels. What should the surplus do?",
    ),
    "one thread too few": (
        "The last pixel has no thread.",
        "Pixels are numbered from 0. Which is the last one that your test lets through?",
    ),
    "height and width of the image exchanged": (
        "The image's height and width are taken for each other in the index of a pixel.",
        "How many numbers lie between the pixels [h, 0] and [h + 1, 0] of a plane? And between two planes?",
    ),
    "image read with its channels last": (
        "The image is read as if its channels lay innermost.",
        "The order of x is N, C, H, W. Which index varies fastest?",
    ),
    "channels and filters exchanged": (
        "The numbers of channels and of filters are taken for each other in an index.",
        "An image has C channels, a filter too; an output has K. Go through the three indices.",
    ),
    "planes of the output left out": (
        "Outputs of several filters or images are stored at the same place.",
        "How many numbers of y lie before plane [n, k] begins?",
    ),
    "output row as long as an input row": (
        "The output is stored as if its planes had the size of the input's.",
        "Which letters are the height and width of an output plane?",
    ),
    "window stands still": (
        "The row or column of the pixel does not move with the tap.",
        "Which pixel meets tap r = 1, s = 2 of the window at [p, q]?",
    ),
    "a tap too many": (
        "The window has a row or column too many.",
        "Which is the last r of a window of R rows? Look at your < and <=.",
    ),
    "sum kept in an int": (
        "The sum is an int, which holds no fractions.",
        "Of which type are the products?",
    ),
    "input row as long as an output row": (
        "The input is read as if its rows were as long as the output's.",
        "Which letter is the length of an input row, and which that of an output row?",
    ),
    "input plane as high as an output plane": (
        "The input is read as if its planes had as many rows as the output's.",
        "How many rows does one channel of the input have?",
    ),
    "row and column of the filter swapped": (
        "The filter is read with its row and column swapped.",
        "In w[k, c, r, s], which of r and s is the one that lies side by side in memory?",
    ),
    "channels of the filter left out": (
        "The filter is read as if it had one channel.",
        "How many weights does one filter have before the next one begins?",
    ),
    "output written in another order": (
        "The output is stored with its channels last.",
        "The order of the output is N, K, P, Q. Which index varies fastest?",
    ),
}
