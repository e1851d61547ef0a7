"""What wrong answers stand for in lesson 02: sizes and paddings."""

from __future__ import annotations

__all__ = ["TEXTS"]

TEXTS: dict[str, tuple[str, str]] = {
    "dilation left out of the output size": (
        "The output size does not depend on the dilation.",
        "How many rows do 3 taps span at dilation 2? Draw them.",
    ),
    "gap behind the last tap": (
        "The window is counted as dilation times its taps, with a gap behind the last one.",
        "How many gaps are there between 3 taps?",
    ),
    "last tap left out of the span": (
        "The window is counted as its gaps alone: from the first tap to the last, which itself is missing.",
        "How many rows does a window of one tap span?",
    ),
    "one gap for all taps": (
        "The window grows by one gap, however many taps it has.",
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
    "a window that just fits not counted": (
        "A window as large as the padded image gives no output.",
        "An axis of 3 pixels and a window of 3: how many positions are there?",
    ),
    "same taken for the size of the input": (
        'With "same" the output is as large as the input, whatever the stride.',
        "The padding of the same name gives that size at stride 1. What is it at stride 2?",
    ),
    "same rounded down": (
        'With "same" the size is not rounded up.',
        "Seven pixels, stride 3: windows begin at 0, 3 and 6. How many are these?",
    ),
    "same as half a window at both ends": (
        'With "same" there is as much padding at one end as at the other, which a window of even span does not allow.',
        "How much padding in all does a window of 4 need, so that 7 pixels give 7 outputs?",
    ),
    "same without its dilation": (
        'With "same" the padding is that of a window which is not dilated.',
        'The answer of "same" needs no padding at all. Which two numbers does its rule take?',
    ),
    "dilation left out of valid": (
        'With "valid" the window is taken as if it were not dilated.',
        "How many pixels do 3 taps span at dilation 2? Draw them.",
    ),
    "window left out of valid": (
        'With "valid" the window is not taken into account.',
        "Without padding, how many windows of 3 fit into 3 pixels?",
    ),
    "a padded copy made": (
        "A padded copy is made, or something else as large.",
        "For each place in the frame, which pixel of the image does it show? Read that one.",
    ),
    "image copied as float64": (
        "The whole image is copied, as float64, which takes twice its bytes.",
        "The image may stay as it is: multiply single pixels, or add to a result in float64.",
    ),
    "image begins again at its far side": (
        "Beyond an edge stand the pixels of the far side, as if the image began again.",
        "For a b c d, which pixel does the mode show behind d: a, c or d?",
    ),
    "replicate takes one pixel for both ends": (
        'With "replicate" both ends show the same pixel.',
        "Before the first pixel stands the first one. Which one stands behind the last?",
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
}
