"""What wrong answers stand for in lesson 09: implicit GEMM."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "height and width of the window exchanged": (
        "The window is walked through as if it had R columns and S rows.",
        "How many elements of a filter lie in one of its rows?",
    ),
    "taps numbered down the columns": (
        "The elements of a window are numbered down its columns, while those of the filter lie row by row.",
        "Which tap comes after r = 0, s = 0, and which is the last one before r = 1?",
    ),
    "channels not counted fastest": (
        "The row of X_col is taken apart as if the filter lay in the order C, R, S.",
        "Here the order of a filter is R, S, C. Which of the three changes with each element?",
    ),
    "columns counted on into the next row": (
        "The column of the tap counts on from one row of the window to the next.",
        "With S = 3, which s has the first element of row r = 1?",
    ),
    "rows counted on into the next image": (
        "The row of the output counts on from one image to the next.",
        "Columns of X_col are counted through all images. Which p has the first output of image 1?",
    ),
    "outputs counted by the image's size": (
        "The column of X_col is taken apart by the size of the image, not by that of the output.",
        "n counts outputs. How many of them stand in a row, and how many in a plane?",
    ),
    "channels counted fastest": (
        "The channel is counted on with each element, but the filter lies in the order C, R, S.",
        "Which of c, r and s changes from one element of the filter to the next?",
    ),
    "counted on before the product": (
        "The indices are counted on before the element is used, so each weight meets its neighbour's pixel.",
        "Which tap belongs to k = 0?",
    ),
    "one weight for all taps": (
        "Every product takes the filter's first weight.",
        "k has to go on with each product. Where does it?",
    ),
    "divisions left in the loop": (
        "The outputs are right, but each element still takes divisions, or a whole address that is computed anew.",
        "How do c, r and s change when k becomes k + 1, and the address of the pixel with them?",
    ),
    "columns of the window never start again": (
        "The column of the window is counted on and never set back, so only its first row ends.",
        "s runs from 0 to S − 1. What must it be after that?",
    ),
    "rows of the window never start again": (
        "The row of the window is counted on and never set back, so only the first channel ends.",
        "r runs from 0 to R − 1. What must it be after that?",
    ),
    "pixel not taken back to the window's left edge": (
        "At the end of a row of the window the pointer goes down one row, and stays at the right edge.",
        "The pointer has already moved by S. How far is it to the start of the next row?",
    ),
    "pixel not taken back to the window's top": (
        "At the end of a channel the pointer goes on by a whole channel, from the row where it already is.",
        "The pointer has already moved by R rows. How many are left until the next channel's window?",
    ),
    "row of the window as long as the image": (
        "The pointer never jumps at the end of a row of the window: it reads on along the image.",
        "Where in memory does the second row of a window lie, as seen from the end of its first?",
    ),
}
