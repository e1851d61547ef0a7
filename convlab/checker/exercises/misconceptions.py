"""The table of misconceptions that wrong answers stand for, in the words that a learner reads."""

from __future__ import annotations

from typing import Any

from convlab.checker.record import Mutant

__all__ = ["MISCONCEPTIONS", "mutant"]

# name: (what the code seems to do, a hint that leads on without telling the answer)
MISCONCEPTIONS: dict[str, tuple[str, str]] = {
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
    "stride applied to the tap": (
        "The stride also spreads the taps inside a window; only the window as a whole should move by it.",
        "Two neighbouring taps of one window: how many pixels apart are the pixels they read?",
    ),
    "padding left out of the index": (
        "Windows start too late: the first one begins inside the input, not in the padding.",
        "With padding 1, which input row does the first tap of output row 0 meet?",
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
    "bias missing": (
        "The bias is missing.",
        "The products are not all: what does each filter add to their sum?",
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
    # lesson 02
    "dilation left out of the output size": (
        "The output size does not depend on the dilation.",
        "How many rows do 3 taps span at dilation 2? Draw them.",
    ),
    "gap behind the last tap": (
        "The window is counted as dilation times its taps, with a gap behind the last one.",
        "How many gaps are there between 3 taps?",
    ),
    "dilation taken for the gap": (
        "Between two taps lie as many skipped pixels as the dilation says, one too many.",
        "At dilation 1 the taps are neighbours. How many pixels lie between them?",
    ),
    "one end of an uneven padding used for both": (
        "One of the two numbers of an uneven padding is used for both ends.",
        "With padding (0, 5), how many cells does the padded axis have?",
    ),
    "output size not rounded": (
        "The division by the stride is not rounded, so the result can be a fraction.",
        "Which division of Python gives whole numbers?",
    ),
    "first window not counted": (
        "One output is missing: the first window.",
        "An axis of 3 pixels and a window of 3: how many positions are there?",
    ),
    "stride ignored in the output size": (
        "The output size does not depend on the stride.",
        "With stride 2 the window stops at every second position.",
    ),
    "divided by the stride too early": (
        "The padded size is divided by the stride before the window is taken off.",
        "The stride counts steps of the window. What is left to step over once the first window is placed?",
    ),
    "less than no output": (
        "A window that does not fit gives a wrong number of outputs.",
        "Work out by hand what your formula gives for 4 pixels and a window of 9, and what it should give.",
    ),
    "same taken for the size of the input": (
        'With "same" the output is as large as the input, whatever the stride.',
        "The padding of the same name gives that size at stride 1. What is it at stride 2?",
    ),
    "same rounded down": (
        'With "same" the size is rounded down.',
        "Five pixels, stride 2: windows begin at 0, 2 and 4. How many are these?",
    ),
    "same as half a window at both ends": (
        'With "same" there is as much padding at one end as at the other, which a window of even span does not allow.',
        "How much padding in all does a window of 4 need, so that 7 pixels give 7 outputs?",
    ),
    "window left out of valid": (
        'With "valid" the window is not taken into account.',
        "Without padding, how many windows of 3 fit into 3 pixels?",
    ),
    "a padded copy made": (
        "A padded copy is made, or something else as large.",
        "For each place in the frame, which pixel of the image does it show? Read that one.",
    ),
    "border pixel mirrored twice": (
        "The mirror stands outside the border pixel, so that this pixel appears twice.",
        "For a b c d, reflect puts b before a, and c behind d.",
    ),
    "only one end mirrored": (
        "Only one end of the axis is mirrored rightly.",
        "Two tests are needed: one for places before 0, one for places from the size on.",
    ),
    "reflect and replicate taken for each other": (
        "One of reflect and replicate does what the other should.",
        "Which of the two walks back into the image, and which stays at the border?",
    ),
    "padding mode ignored": (
        "The frame always shows zeros.",
        "Where does your code look at the mode?",
    ),
    "height used for the columns": (
        "The columns are folded back at the image's height.",
        "Which entry of the image's shape is the number of its columns?",
    ),
    # exercise 03, question 2
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
    # lesson 04
    "multiply-add counted as one FLOP": (
        "A multiply-add is counted as one FLOP.",
        "It multiplies and it adds: how many operations is that?",
    ),
    "weights not counted as bytes": (
        "The bytes of the weights are missing.",
        "Which tensors does a kernel have to read before it can compute anything?",
    ),
    "output not counted as bytes": (
        "The bytes of the output are missing.",
        "What a layer computes has to go somewhere, too.",
    ),
    "input not counted as bytes": (
        "The bytes of the input are missing.",
        "Which tensors does a kernel have to read before it can compute anything?",
    ),
    "padding counted as bytes": (
        "The padding is counted as if it were stored.",
        "A pixel of padding is zero by definition. Does anybody have to fetch it?",
    ),
    "numbers counted, not bytes": (
        "Numbers are counted where bytes are meant.",
        "How many bytes does one number of this type take?",
    ),
    "wrong number of bytes for the type": (
        "Each number is given the bytes of another type.",
        "A float32 has 32 bits. How many bytes is that, and how many is a float16?",
    ),
    "every load counted as a byte of DRAM": (
        "Each multiply-add is charged for two numbers from DRAM, as if nothing were ever used again.",
        "Compulsory means once: each number of a tensor crosses the memory bus a single time.",
    ),
    "depthwise counted as dense": (
        "Each depthwise filter is counted as if it saw all channels.",
        "With groups = C, how many channels does one filter look at?",
    ),
    "ridge taken the wrong way round": (
        "The two sides of the ridge are swapped.",
        "Little work for each byte: who waits for whom, the arithmetic for the memory, or the memory for it?",
    ),
    "ridge of another type": (
        "The layer in float16 is held against the ridge of float32.",
        "Which peak belongs to float16? Work out the ridge from that one.",
    ),
    "time taken from the wrong roof": (
        "The time is the one that arithmetic alone would take.",
        "Two limits, two times. Which of them is the longer one, and which one counts?",
    ),
    "only the weights counted as bytes": (
        "Only the weights are counted as bytes, so the batch comes out a little too small.",
        "With a larger batch the input and the output grow as well.",
    ),
    "batch rounded down": (
        "The batch is the last one that is still below the ridge.",
        "Put your batch into the formula: does its intensity reach the ridge?",
    ),
    "bytes divided by FLOP": (
        "The intensity is upside down: bytes for each FLOP.",
        "More reuse should raise it. What belongs above the fraction line?",
    ),
    "peak forgotten": (
        "The roof has no ceiling: the result may be above the peak.",
        "What happens to a layer with a thousand FLOP for each byte?",
    ),
    "memory forgotten": (
        "The result is always the peak, whatever the layer.",
        "How fast can memory deliver what the arithmetic needs? The slower of the two decides.",
    ),
    "batch left out of the work": (
        "The work is that of one image, but the bytes are those of all.",
        "How many outputs does the whole batch have?",
    ),
    "filter taken for one channel": (
        "One output is counted with R·S multiply-adds, as if there were one channel.",
        "How many weights does one filter have?",
    ),
    # lesson 07
    "stride and dilation swapped": (
        "Stride and dilation are swapped.",
        "Which of the two moves the window as a whole, and which spreads its taps?",
    ),
    "dilation ignored": (
        "The taps of a window are neighbours, as if the dilation were 1.",
        "At dilation 2, which pixels do the three taps of the first window meet?",
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
    # lesson 05
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
    "threads leave before the barrier": (
        "Threads without an output return early, and never come to the barrier.",
        "These threads have no output. What else are they needed for?",
    ),
    "barriers for the first channel alone": (
        "The barriers order the first channel, and no other one.",
        "Which of the two hazards comes back with each channel?",
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
    # Lesson 06: several outputs a thread.
    "pixels loaded again for the second filter": (
        "Each pixel is loaded once for each filter, so a thread with two filters saves nothing.",
        "Both filters want the same pixel at the same tap. How many loops over the taps does that take?",
    ),
    "second filter's bound missing": (
        "The last pair is taken for two filters, though with an odd number one of them does not exist.",
        "With K = 5, which two filters has the last block? Which of them is there?",
    ),
    "last filter of an odd number left out": (
        "The last filter is never computed where the number of filters is odd.",
        "A pair without its second filter still has a first one.",
    ),
    "both outputs from the first filter": (
        "Both outputs are computed with the weights of the first filter.",
        "Which part of the weight's index tells one filter from the next?",
    ),
    "second filter begins one weight further": (
        "The second filter is read one weight behind the first, and not one filter behind it.",
        "How many weights has a filter in all?",
    ),
    "second filter begins one channel further": (
        "The second filter is read one channel behind the first, and not one filter behind it.",
        "A filter has C channels of R·S weights. Where does the next filter begin?",
    ),
    "pairs of filters overlap": (
        "Each block begins one filter after the one before, so the pairs overlap and the last filters have nobody.",
        "Which filter does block 1 begin with, if block 0 has the filters 0 and 1?",
    ),
    "one sum for two filters": (
        "The products of both filters are added to one sum.",
        "Two outputs need two sums. Where does each of them live?",
    ),
    "second output stored over the first": (
        "Both outputs are stored at the first one's place.",
        "Which index of y differs between the two?",
    ),
    "weight loaded for each pixel": (
        "The weight is loaded anew for each of the four pixels.",
        "The compiler keeps a load that stands inside of a condition. What could you do before the loop over pixels?",
    ),
    "pixels behind the row's end computed": (
        "All four pixels are computed, also where the row ends before.",
        "With Q = 5, how many pixels has the second group of a row?",
    ),
    "pixels behind the row's end read": (
        "Pixels are read for outputs that lie behind the end of the row, and at last behind the end of x.",
        "The stores are tested. What do the loads of the same outputs do?",
    ),
    "pixels behind the row's end stored": (
        "Outputs behind the end of a row are stored: they land on the next row.",
        "With Q = 5, where in memory does output q = 6 of row 0 lie?",
    ),
    "groups run across the ends of rows": (
        "The groups of four are counted through the whole plane, so that some begin in one row and end in the next.",
        "Each row begins with a new group. How many groups has a row of Q pixels?",
    ),
    "groups overlap": (
        "The groups of neighbouring threads begin one pixel apart, and overlap.",
        "Thread 0 has the pixels 0 to 3. Where does thread 1 begin?",
    ),
    "last group of a row left out": (
        "The number of groups of a row is rounded down, so that a shorter last group has no thread.",
        "With Q = 5 a row needs two groups. What does Q / 4 give?",
    ),
    "all four pixels from one window": (
        "All four outputs look at the window of the first.",
        "By how many columns does the window move from one output to the next?",
    ),
    "one sum for all pixels": (
        "The products of all four pixels are added to one sum.",
        "Four outputs need four sums.",
    ),
    # lesson 10
    "lanes counted down the rows": (
        "Lanes 0 to 7 are put into eight different rows, as if they were counted down a column.",
        "Which lanes share row 0 of the sums? Look at the picture of the fragments.",
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
    # Lesson 09: implicit GEMM.
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
    "divisions left in the loop": (
        "The outputs are right, but each element still takes divisions, or a whole address that is computed anew.",
        "What of the loop's body depends on n alone? And what changes when k becomes k + 1?",
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
    # Lesson 08.
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


def mutant(name: str, *ways: Any) -> Mutant:
    """Make the mutant of a misconception in the table.

    >>> mutant("bias missing", lambda x, w, bias: x @ w).misconception
    'The bias is missing.'

    Parameters: ``ways``, the functions, CUDA C or values in which the mistake is usually written in this exercise.
    """
    return Mutant(name, *MISCONCEPTIONS[name], ways)
