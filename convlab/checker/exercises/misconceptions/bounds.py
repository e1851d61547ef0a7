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
}
