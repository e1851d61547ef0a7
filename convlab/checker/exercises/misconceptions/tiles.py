"""What wrong answers stand for in lesson 05: tiles."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "halo: not loaded at all": (
        "Each thread loads one pixel, so that the halo is never loaded.",
        "How many words has the tile, and how many threads the block? Who loads the others?",
    ),
    "halo: right column missing": (
        "The tile's last column is never loaded.",
        "Which columns of the tile does the window of the rightmost thread reach?",
    ),
    "halo: bottom row missing": (
        "The tile's last row is never loaded.",
        "Which rows of the tile does the window of a thread in the lowest row reach?",
    ),
    "halo: only in one direction": (
        "The halo is loaded in one direction only.",
        "A window reaches beyond the block's pixels to the right and down. Which of the two loops ends too early?",
    ),
    "halo: that of a 3×3 filter": (
        "The halo is always two rows and two columns, whatever the filter.",
        "How far does a window of R × S reach? The size of the tile is there already, under two names.",
    ),
    "halo: a row or column too many": (
        "A row or column is loaded that the tile does not have.",
        "Which is the last column of a tile of cols columns? Look at your < and <=.",
    ),
    "padding taken off twice": (
        "The padding is taken off a second time: top and left have it already.",
        "Which row of the image is tile[0][0], by the task?",
    ),
    "every block loads the first tile": (
        "All blocks load the tile at the image's upper left corner.",
        "Where does the tile of the next block begin? The answer is in top and left.",
    ),
    "edges of the image not tested": (
        "Pixels outside of the image are read, where a zero belongs.",
        "Padding can lie on all four sides of the image. Which tests keep the reads inside?",
    ),
    "output's size taken for the image's": (
        "The pixel is held against P and Q, which are the size of the output.",
        "Which letters are the image's height and width?",
    ),
    "tile stored column by column": (
        "The tile is stored column by column, and read row by row.",
        "Where does the kernel look for the pixel to the right of tile[i * cols + j]?",
    ),
    "steps of the loops exchanged": (
        "The loops step by the block's size in the other direction.",
        "How many threads has a block along x, and how many along y?",
    ),
    "one thread loads the whole tile": (
        "One thread loads the whole tile, while all others wait for it.",
        "A block has 64 threads. How many pixels are left for each, if they share the work?",
    ),
    "tile begins at its outputs": (
        "The tile begins at the block's first output, without the padding before it.",
        "With padding 1, which row of the image does the first output's window begin in?",
    ),
    "padding left as it was": (
        "Where padding is, nothing is stored in the tile.",
        "A thread reads these words like all others. What should it find there?",
    ),
    "pixels of the edge repeated": (
        "In the tile, the padding holds the nearest pixel of the image.",
        "What is the product of a weight and zero padding?",
    ),
    "columns of the image not tested": (
        "Only the row is tested for lying inside of the image, not the column.",
        "Which element is plane[h * W - 1]?",
    ),
    "rows of the tile too close": (
        "The tile's rows are stored as if they were as long as a row of threads, so that they overlap.",
        "How many words has a row of the tile, halo included?",
    ),
    "row and column of the image swapped": (
        "A pixel of the image is read with its row and its column swapped.",
        "How many pixels lie before row h of a plane?",
    ),
    "every thread loads the whole tile": (
        "Every thread loads every pixel of the tile: that saves nothing.",
        "Divide the work: which pixels are this thread's?",
    ),
    "no barrier at all": (
        "No warp waits for another one: no barrier of the block orders the tile's stores and reads.",
        "Take two warps, a fast one and a slow one. What may the fast one do while the slow one still loads?",
    ),
    "barrier missing after the loads": (
        "Windows are read although their pixels may not be there yet.",
        "Who stored the pixel to the right of a thread's own? Has that thread come so far?",
    ),
    "barrier missing before the next loads": (
        "The next channel is stored although somebody may still read this one.",
        "A fast warp has finished its products. What does it do next, and to which words?",
    ),
    "barrier inside an if": (
        "Only some threads of the block come to the barrier.",
        "A barrier is for the whole block. Is your condition the same for all of its threads?",
    ),
    "barrier inside the loading loop": (
        "The barrier stands in the loop that loads, which threads go round differently often.",
        "How many pixels does thread (0, 0) load, and how many the last thread?",
    ),
    "barrier in the loop over the taps": (
        "A barrier stands in a loop over the taps, and not where an order has to be kept.",
        "What must have happened before the first tap of a channel, and what after its last one?",
    ),
    "more barriers than needed": (
        "The outputs are right, but the block waits too often: in a loop over the taps, or twice in a row.",
        "For each channel two orders have to be kept. Which of your barriers keeps neither?",
    ),
    "threads leave before the barrier": (
        "Threads without an output return early, and never come to the barrier.",
        "These threads have no output. What else are they needed for?",
    ),
    "barriers for the first channel alone": (
        "The barriers order the first channel, and no other one.",
        "Which of the two hazards comes back with each channel?",
    ),
    "pitch: shorter than a row": (
        "The pitch is smaller than cols for some tiles, so that their rows have no room.",
        "Of the pitches without conflicts, take one that is not below cols. Try cols = 10 and cols = 26.",
    ),
    "pitch: a number of words more": (
        "A fixed number of words is added to each row, which helps tiles of some widths only.",
        "What must the pitch be, modulo 32, so that four rows keep apart? The number to add depends on cols.",
    ),
    "pitch: never below 24": (
        "Narrow tiles get a pitch of 24, though there is a smaller one without conflicts.",
        "Four rows of 8 lanes read 32 words. Which pitch puts them side by side?",
    ),
    "pitch: just the columns": (
        "The rows of the tile lie close together, whatever banks they fall into.",
        "With 10 columns, in which banks do the four rows of lanes lie?",
    ),
    "pitch: one word more": (
        "One word is added to each row: the remedy for reading down a column, which is not what these warps do.",
        "With a pitch of 11, in which banks do lanes 7 and 8 read?",
    ),
    "pitch: a multiple of 8": (
        "The pitch is the next multiple of 8, but not each of them keeps the four rows apart.",
        "Write down where four rows begin at a pitch of 16, modulo 32.",
    ),
    "pitch: a multiple of 16": (
        "The pitch is the next multiple of 16: then the first row and the third begin in the same bank.",
        "Write down where four rows begin at a pitch of 16, modulo 32.",
    ),
    "pitch: a multiple of 32": (
        "The pitch is the next multiple of 32: then all rows begin in the same bank.",
        "There are 32 banks. Where does each row begin at a pitch of 32?",
    ),
    "pitch: that of rows of 16": (
        "This is the pitch for warps with two rows of 16 lanes.",
        "Here a warp has four rows of 8 lanes. How far apart must they begin?",
    ),
    "pitch: larger than it need be": (
        "The pitch has no conflicts, but a smaller one would do, and there is no room for this one.",
        "Several pitches are free of conflicts. Write down the first ones from 8 on.",
    ),
    "pitch: right for one size alone": (
        "The pitch is always the same, whatever the tile's columns.",
        "Try tiles of 8, of 20 and of 26 columns.",
    ),
}
