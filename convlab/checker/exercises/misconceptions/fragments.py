"""What wrong answers stand for in lesson 10: Tensor Cores."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "lanes counted down the rows": (
        "Lanes 0 to 7 are put into eight different rows, as if they were counted down a column.",
        "Which lanes share row 0 of the sums? Look at the picture of the fragments.",
    ),
    "group and place in it exchanged": (
        "The number of the group and the place in it are exchanged.",
        "Lanes 0 to 3 are a group. Which of / and % by 4 gives the group's number?",
    ),
    "a run of the matrix for each lane": (
        "Each lane gets a run of the matrix as it lies in memory.",
        "Look up lane 5 in the picture of the fragments: do its elements lie side by side?",
    ),
    "two elements of a register apart": (
        "Neighbouring lanes hold neighbouring elements, so that the two of a register lie apart.",
        "A register holds two elements side by side. Which columns has lane 0, and which lane 1?",
    ),
    "second and third register of A exchanged": (
        "In A, elements 2 and 3 lie to the right of the first two, not below them.",
        "Which comes first in A: eight rows further down, or eight columns further right?",
    ),
    "rows and columns of B exchanged": (
        "Row and column of B are exchanged.",
        "B has 16 rows, along the depth, and 8 columns. Which of its two indices is g?",
    ),
    "rows and columns of A exchanged": (
        "Row and column of A are exchanged.",
        "The rows of A belong to the rows of the sums. Which of its two indices is g?",
    ),
    "sums held as B is": (
        "The pairs of the sums lie along their columns, as those of B do.",
        "Which registers of the sums lie side by side in the picture?",
    ),
    "lanes one element apart": (
        "Neighbouring lanes begin one element apart, so that they share elements.",
        "Lane 0 has the columns 0 and 1 of row 0. Which has lane 1?",
    ),
    "four elements side by side": (
        "A lane holds four elements side by side.",
        "A register has room for two elements. Where does the next register continue?",
    ),
    "pairs of B eight rows apart": (
        "The two elements of a register of B lie eight rows apart.",
        "Which of the four elements of B share the first register: 0 and 1, or 0 and 2?",
    ),
    "A numbered down first": (
        "Element 1 of A is taken from the row eight further down.",
        "Two elements of a register lie side by side. Which of i % 2 and i // 2 leads to the row below?",
    ),
    "B held along its rows": (
        "The pairs of B lie along its rows, as those of the sums do.",
        "A sum runs along the depth. Which index of B is the depth, and along which does a lane hold pairs?",
    ),
    "halves of a register exchanged": (
        "The two elements of each pair are in the wrong order.",
        "Element 0 is the lower half of the first register. Which column has it?",
    ),
    "eight rows further left out": (
        "A lane's elements all lie in one row.",
        "Eight groups of lanes, sixteen rows: where are the others?",
    ),
    "second half of the depth left out": (
        "Only the first eight elements along the depth are held.",
        "The depth is 16. Which elements of a lane lie in its second half?",
    ),
    "rows of a lane side by side": (
        "The two rows of a lane are neighbours.",
        "Two rows of a lane: how far apart are they in the picture of the fragments?",
    ),
    "sums numbered down first": (
        "Element 1 of the sums is taken from the row eight further down.",
        "Which two of a lane's four sums lie side by side, 0 and 1 or 0 and 2?",
    ),
    "one step for each tap": (
        "Per tap, each tap is given one step, however many channels there are.",
        "20 channels in steps of 16: how many steps does one tap take?",
    ),
    "taps left out of what is paid for": (
        "What is paid for is that of one tap, but what is useful is that of all.",
        "Per tap, how often are the channels filled up?",
    ),
    "taps left out of what is useful": (
        "What is useful is that of one tap, but what is paid for is that of all.",
        "How many elements does the sum of one output have, the zeros left out?",
    ),
    "a single tile counted": (
        "A single tile is counted, also where it takes several.",
        "35 filters in tiles of 16: how many rows are paid for?",
    ),
    "each row of the window filled up": (
        "Flattened, each row of the window begins with a new step.",
        "All C · R · S elements stand in one row. Where does the last step end?",
    ),
    "filters not filled up": (
        "The filters that fill the tile up are not paid for.",
        "A tile of 16 filters, and 7 of them real: what do the other rows do?",
    ),
    "elements not filled up": (
        "The zeros that fill up the sum are not paid for.",
        "A step takes as many elements as the tile is deep. How many are there when the last step is done?",
    ),
    "flattened and per tap taken for each other": (
        "Flattened and per tap are taken for each other.",
        "With C = 3, in which of the two ways does a step of 16 hold three useful elements?",
    ),
    "always flattened": (
        "The sum is always taken as flattened.",
        "Per tap, each of the R · S taps begins with a new step.",
    ),
    "always per tap": (
        "Each tap always begins with a new step.",
        "Flattened, all C · R · S elements stand in one row. Where is there something to fill up?",
    ),
    "taps filled up, not channels": (
        "Per tap, the number of taps is filled up, not that of the channels.",
        "In one step of one tap, what do the elements count?",
    ),
    "sides of the tile exchanged": (
        "The two sides of the tile are exchanged.",
        "Which side do the filters lie along, and which the elements of the sum?",
    ),
    "tiles rounded down": (
        "The last tile, which is not full, is not counted.",
        "27 elements, 16 in a step: how many steps does the sum take?",
    ),
    "a tile too many": (
        "A tile that is full is followed by an empty one.",
        "16 filters in tiles of 16: how many tiles are these?",
    ),
    "shares averaged, not multiplied": (
        "The two shares are joined in another way than by multiplying.",
        "Half of the rows are useful, and in these half of the columns. Which part of the tile is that?",
    ),
    "idle part given": (
        "The part that is idle is given.",
        "Which part was asked for: the one that works, or the rest?",
    ),
    "per cent given": (
        "The result is given in per cent.",
        "A share is a number from 0 to 1.",
    ),
    "paid for divided by useful": (
        "The result is upside down: what is paid for, divided by what is useful.",
        "Can more multipliers be useful than there are? Which number is the larger one?",
    ),
    "leading bit forgotten": (
        "The leading bit, which is not stored, is not counted.",
        "FP16 stores 10 bits behind the point. How many significant bits are that, with the one before it?",
    ),
    "a significant bit too many": (
        "One significant bit too many is counted.",
        "The task says how many there are, and whether the leading one is among them.",
    ),
    "stop one too early": (
        "The sum is taken to stop one number too early.",
        "Is your number plus 1 a number of the type? Then the sum goes on.",
    ),
    "stop one too late": (
        "The sum is taken to reach a number that the type does not have.",
        "Write your number in binary. How many digits does it take?",
    ),
    "part of a product counted": (
        "The number of products is no whole one.",
        "Half a product cannot be added. Which whole number still fits?",
    ),
    "types under other names": (
        "The types are right or wrong, but under other names than those that were asked for.",
        'Write "FP16" or "FP32".',
    ),
    "largest number taken for the stop": (
        "The largest number of the format is taken for the place where the sum stops.",
        "Far below it the numbers already lie more than 1 apart. Where does that begin?",
    ),
    "BF16 as precise as FP16": (
        "BF16 is taken to be as precise as FP16.",
        "Both have 16 bits. Which of the two spends more of them on the exponent?",
    ),
    "BF16 as precise as FP32": (
        "BF16 is taken to be as precise as FP32.",
        "BF16 has the range of FP32. What did it give away for that?",
    ),
    "product as narrow as its factors": (
        "A product is given fewer bits than it may need.",
        "Multiply 99 by 99: how many digits have the factors, and how many the product?",
    ),
    "bits of the format taken for its digits": (
        "All 16 bits of a number are counted as significant.",
        "Which of the 16 bits are sign and exponent?",
    ),
    "infinity counted as a sum": (
        "One product too many: the sum is infinite.",
        "Multiply your number by 64, and compare with 65504.",
    ),
    "the stop taken for a size": (
        "A sum of larger products is taken to stop at the same size as a sum of ones.",
        "Multiples of 64 lie 64 apart. Up to which size are they all numbers of FP16?",
    ),
    "overflow forgotten": (
        "It is not taken into account that a sum may pass the largest number.",
        "Multiply the number of products by 64. Does FP16 have such a number?",
    ),
    "taps left out of the sum": (
        "The sum is taken to be as long as the channels alone.",
        "A 3 × 3 filter looks at nine pixels of each channel.",
    ),
    "depthwise sum as long as a dense one": (
        "A depthwise filter is taken to sum over all channels.",
        "With groups = C, how many channels does one filter look at?",
    ),
    "last exact sum refused": (
        "A sum that just fits is refused.",
        "Is the place where the sum stops itself a number of FP16?",
    ),
}
