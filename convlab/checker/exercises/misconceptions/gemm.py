"""What wrong answers stand for in lesson 08: GEMM."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "factors read from global memory all the same": (
        "The products are computed from global memory, without tiles that the threads share.",
        "How many threads of the block need a[m][k]? Each of them loads it here.",
    ),
    "tile read before it is stored": (
        "The tiles are read although their elements may not be there yet.",
        "Who stored the element beside a thread's own? Has that thread come so far?",
    ),
    "tile stored while it is read": (
        "The next step's elements are stored although somebody may still read this step's.",
        "A fast warp has finished its products. What does it do next, and to which words?",
    ),
    "last step of k left out": (
        "The loop over k stops before the last tiles, where K is no multiple of their size.",
        "With K = 19 and tiles of 16, how many steps does it take?",
    ),
    "edges not tested at the loads": (
        "Elements are loaded that lie outside of a or b.",
        "With K = 19, which columns of a does the second step have? And which rows does the last block of M = 21?",
    ),
    "threads without an output leave": (
        "Threads without an output return early, so their elements of the tiles are missing, and so are they at the "
        "barriers.",
        "Who else brings the elements that such a thread should have loaded?",
    ),
    "row and column of the tile swapped": (
        "The tile of b is read with row and column exchanged.",
        "Bs is [k][n]. Which of its two indices runs in the loop?",
    ),
    "sum begins anew with each step": (
        "The sum is set to zero in every step, so that only the last tiles count.",
        "How long is the sum of one output, and how much of it does one step contribute?",
    ),
    "outputs behind the edge stored": (
        "Threads behind the edge of y store, too.",
        "With N = 37, where in memory does y[0][40] lie?",
    ),
    "outputs computed one after the other": (
        "The four outputs are computed one after the other, so no number is used for two of them.",
        "How often is As[k][m] read? Put the loop over k outside, and the four outputs inside.",
    ),
    "one sum for all four outputs": (
        "The products of all four outputs are added to one sum.",
        "Four outputs need four sums.",
    ),
    "tiles of neighbouring threads overlap": (
        "Neighbouring threads begin one row or column apart, so their outputs overlap and the last ones have nobody.",
        "Thread 0 has the rows 0 and 1. With which does thread 1 begin?",
    ),
    "second row multiplied as the first": (
        "Both rows of outputs are computed from the first row of a.",
        "Which index of As differs between the two rows?",
    ),
    "places in the two tiles exchanged": (
        "The thread's column is looked up in the tile of a, and its row in the tile of b.",
        "As is [k][m], Bs is [k][n]. To which of them belongs threadIdx.y?",
    ),
    "edge tested for the first output alone": (
        "Only the first of the four outputs is tested against the edge of y.",
        "With N = 37, which two columns has the last thread? Which of them is there?",
    ),
    "tiles that hang over the edge dropped": (
        "None of a thread's four outputs is stored where one of them lies outside.",
        "With an odd number of rows the last thread still has one row. Test each output by itself.",
    ),
    "k runs over more rows than the tile has": (
        "The loop over k runs as far as the tile is wide, and not as far as it is deep.",
        "As is [BK][B + 4]. Which of the sizes does k run over?",
    ),
}
