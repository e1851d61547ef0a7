"""What wrong answers stand for in lesson 04: bounds."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
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
    "the two times added": (
        "The times of arithmetic and of memory are added.",
        "By the roofline both go on at the same time. Which of them decides, then?",
    ),
    "another unit than milliseconds": (
        "The time is given in another unit than milliseconds.",
        "Bytes divided by bytes per second are seconds. How many milliseconds is that?",
    ),
    "other words": (
        "The bound is given in another word than the two that were asked for.",
        'Write "arithmetic" where a layer is compute-bound, and "memory" where it is memory-bound.',
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
    "intensity given": (
        "The intensity is given, and not yet the speed that it allows.",
        "So many FLOP for each byte, and so many bytes in a second: how many FLOP in a second?",
    ),
    "share of the peak given": (
        "The share of the peak is given, a number from 0 to 1.",
        "What was asked for is in TFLOP/s.",
    ),
    "batch left out of the bytes": (
        "The bytes are those of one image, but the work is that of all.",
        "How many numbers has x in all, and how many has the output of the whole batch?",
    ),
    "work and bytes of one image": (
        "The weights are charged to each image anew.",
        "The batch is one layer: its weights cross the memory bus once. What does that do to the intensity?",
    ),
    "filters left out of the work": (
        "The work is that of one filter.",
        "How many outputs does a layer with K filters have?",
    ),
    "output as large as the input": (
        "P and Q are taken to be H and W.",
        "A window needs room. How many rows of windows fit into the padded image?",
    ),
    "output size divided by the stride alone": (
        "The output's size is taken from the image's size and the stride alone.",
        "What do the window and the padding do to the number of windows?",
    ),
    "batch left out of the work": (
        "The work is that of one image, but the bytes are those of all.",
        "How many outputs does the whole batch have?",
    ),
    "filter taken for one channel": (
        "One output is counted with R·S multiply-adds, as if there were one channel.",
        "How many weights does one filter have?",
    ),
}
