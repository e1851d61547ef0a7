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
        "A tile is read with its row and its column exchanged.",
        "The comment behind the tiles names their indices. Which of the two is k?",
    ),
    "row of another matrix": (
        "A row of a matrix is given the length of another one's.",
        "a is M × K, b is K × N, y is M × N: how many numbers has a row of each?",
    ),
    "b read as if it were transposed": (
        "b is read as if it lay in memory column by column.",
        "b is K × N, row by row. How many numbers lie between b[k][n] and b[k + 1][n]?",
    ),
    "element of another thread loaded": (
        "A tile's element is loaded from the place that belongs to another one.",
        "As is [m][k] and Bs is [k][n]: which of tx and ty counts k in each?",
    ),
    "places behind the edge left as they were": (
        "Where a tile hangs over the edge, nothing is stored in it.",
        "The loop over k reads these words like all others. What should it find there?",
    ),
    "every step loads the first tiles": (
        "Each step loads the same tiles, those that begin with k = 0.",
        "Which column of a does As[ty][0] hold in the step that begins with k0?",
    ),
    "products of a tile counted by K": (
        "The loop over a tile runs over the whole of K.",
        "How many of the K products does one step's tile hold?",
    ),
    "second column multiplied as the first": (
        "Both columns of outputs are computed from the first column of b.",
        "Which index of Bs differs between the two columns?",
    ),
    "place in the matrix taken for one in the tile": (
        "A tile is read at the row, column or k of the whole matrix.",
        "Every tile begins with 0. Which part of m0 + m lies within the tile?",
    ),
    "place in the tile taken for one in the matrix": (
        "Outputs are stored at their place in the tile, as if each block had the first one.",
        "Where in y does the tile of the block begin?",
    ),
    "the two outputs off the diagonal exchanged": (
        "Two of the four outputs are stored at each other's place.",
        "Which row and column does sum[0][1] belong to, where it is computed and where it is stored?",
    ),
    "one output a thread": (
        "Each thread computes one of its four outputs.",
        "8 × 8 threads and 16 × 16 outputs: which four are this thread's?",
    ),
    "steps as long as the tile is wide": (
        "The steps along k are as long as the tile is wide, so half of k is left out.",
        "As is [BK][B + 4]. How much of k does one call of load bring?",
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
        "Which of the two tiles has the rows of y, and which its columns? To which of them belongs threadIdx.y?",
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
