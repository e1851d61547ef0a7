"""What wrong answers stand for in lesson 03: mappings."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "lanes of a warp in several rows": (
        "The outputs are right, but the lanes of a warp lie in several rows, so that a request takes too many sectors.",
        "Which lanes share a warp? Those with consecutive numbers, x first. Which p and q have lanes 0, 1 and 2?",
    ),
    "x counts the rows": (
        "threadIdx.x and blockIdx.x count the rows here, and the y ones the columns.",
        "The grid has enough blocks along x to cover a row. Which of p and q must x count, then?",
    ),
    "only the threads exchanged": (
        "The threads of a block count the rows along x, while the blocks count the columns along x.",
        "A block has 32 threads along x. How many columns is the next block along x away?",
    ),
    "height and width of the block exchanged": (
        "A block's number is multiplied by the size of the other direction.",
        "How many rows does one block cover, and how many columns?",
    ),
    "block's size left out of the map": (
        "Neighbouring blocks begin one row or column apart, so that they overlap and the last outputs have nobody.",
        "Block (0, 0) covers 32 columns. With which column does block (1, 0) begin?",
    ),
    "row of threads as long as the block is high": (
        "A thread's number is taken apart as if 8 threads stood in a row of the block.",
        "A block has 32 threads along x. Which number has the first thread of its second row?",
    ),
    "block left out of the map": (
        "All blocks compute the outputs of the first one.",
        "Which output belongs to thread (0, 0) of block (1, 0)?",
    ),
    "bounds of rows and columns exchanged": (
        "The row is held against the number of columns, and the column against the number of rows.",
        "p runs up to P. Which bound belongs to q?",
    ),
    "bounds of the edge blocks lost": (
        "Threads beyond the last row or column go on.",
        "The blocks at the edges reach beyond the plane. What should their surplus threads do?",
    ),
    "bounds kept for one direction only": (
        "Surplus threads return in one direction only.",
        "Blocks reach beyond the plane at the right and at the lower edge. Which test is missing?",
    ),
    "only the loads mended": (
        "The sums are computed in the new mapping, and stored in the old one.",
        "A thread must store the output whose window it has read. Where does it get p and q from?",
    ),
}
