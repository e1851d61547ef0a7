"""What wrong answers stand for in lesson 07: im2col."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "stride and dilation swapped": (
        "Stride and dilation are swapped.",
        "Which of the two moves the window as a whole, and which spreads its taps?",
    ),
    "dilation ignored": (
        "The taps of a window are neighbours, as if the dilation were 1.",
        "At dilation 2, which pixels do the three taps of the first window meet?",
    ),
    "dilation missing in one direction": (
        "In one direction the taps of a window are neighbours, as if the dilation were 1.",
        "Compare your line for the row with that for the column.",
    ),
    "padding multiplied by the dilation": (
        "The dilation multiplies the padding as well as the tap.",
        "The padding is a number of pixels. What does the dilation count: pixels, or steps between taps?",
    ),
    "axes reshaped without being put in order": (
        "The values have been reshaped while their axes still stood in another order.",
        "reshape keeps the order in memory. Which three axes have to come first, if c, r and s count the rows?",
    ),
    "wrong size in the number of a row": (
        "The number of a row is made with a wrong size, so that some rows are stored over others.",
        "How many rows lie between tap (c, r, s) and tap (c, r + 1, s)? And between (c, r, s) and (c + 1, r, s)?",
    ),
    "wrong size in the number of a column": (
        "The number of a column is made with a wrong size, so that some columns are stored over others.",
        "How many columns lie between window (p, q) and window (p + 1, q)? And between two images?",
    ),
    "channel left out of the row": (
        "All channels are stored in the same rows, each over the one before.",
        "How many rows does one channel take?",
    ),
    "image left out of the column": (
        "All images are stored in the same columns, each over the one before.",
        "How many columns does one image take?",
    ),
    "vertical and horizontal dilation swapped": (
        "The vertical and the horizontal dilation are swapped.",
        "The first number of the pair belongs to the rows. Follow it into every line that uses it.",
    ),
    "windows as rows": (
        "The matrix is transposed: each window is a row.",
        "A filter, flattened to a row, is multiplied from the left. What must a window be, then?",
    ),
    "rows and columns of the window swapped": (
        "A window is flattened down its columns, not along its rows.",
        "A filter in memory has s fastest, then r, then c. A column of the matrix has the same order.",
    ),
    "channels innermost in the column": (
        "A column of the matrix goes through the channels first.",
        "A filter in memory has s fastest, then r, then c. A column of the matrix has the same order.",
    ),
    "columns go down the image first": (
        "The columns of the matrix follow the outputs down the image, not along its rows.",
        "Outputs lie in memory with q fastest. Which window is the second column?",
    ),
    "images innermost in the row": (
        "The images alternate from column to column.",
        "All windows of the first image come first, then those of the second.",
    ),
    "a matrix for each image": (
        "There is a matrix for each image, where one for all of them was asked for.",
        "All windows of all images stand side by side: how many columns is that?",
    ),
    "windows flipped": (
        "Every window is stored upside down and back to front.",
        "The first row of the matrix belongs to the top left tap of the window.",
    ),
    "windows counted without padding": (
        "The windows are counted as if there were no padding.",
        "How many rows and columns has the image with its frame of zeros?",
    ),
    "groups left out of the rows": (
        "A column is as long as if a filter saw all channels.",
        "With two groups, how many channels does one filter see?",
    ),
    "filters counted as rows": (
        "The rows are counted with the number of filters.",
        "A column of the matrix is a window of the input. What do the filters have to do with it?",
    ),
    "channels left out of the rows": (
        "A column is as long as a window of one channel.",
        "A window reaches through all channels that a filter sees.",
    ),
    "columns of the whole batch": (
        "The windows of the whole batch are counted, where those of one image were asked for.",
        "How many outputs does one image have in one channel?",
    ),
    "columns of both groups": (
        "The columns of both groups are counted, where those of one were asked for.",
        "Both groups have the same windows. What differs from group to group: the windows, or the channels?",
    ),
    "groups counted twice": (
        "The groups are counted twice.",
        "Each group has C / G channels. How many values of one window do all groups hold together?",
    ),
    "another unit than mebibytes": (
        "The bytes are given in another unit than MiB.",
        "Divide the bytes by 1024, and once more by 1024.",
    ),
    "part of an image counted": (
        "A part of an image, or of a row of windows, is counted as well.",
        "Only whole ones were asked for. How many of these fit?",
    ),
    "matrix of one group only": (
        "The matrix of one group is counted, and there are several.",
        "All groups are unfolded, each with its own channels. How many values is that in all?",
    ),
    "megabytes taken for mebibytes": (
        "A mebibyte is taken for a million bytes.",
        "MiB counts in powers of two: how many bytes are 1024 times 1024?",
    ),
    "window taken for the factor": (
        "The matrix is taken for R·S times the input, whatever the stride.",
        "R·S copies of each pixel would need a window at each pixel. How many windows are there?",
    ),
    "limit exceeded by rounding up": (
        "The number is rounded up: it does not fit any more.",
        "Multiply your number by its bytes, and compare with the limit.",
    ),
}
