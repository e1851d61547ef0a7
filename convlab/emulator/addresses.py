"""Where things lie in the 64-bit generic address space: buffers, windows for shared and local memory, functions."""

from __future__ import annotations

from typing import Any

__all__ = [
    "LOCAL_WINDOW",
    "SHARED_WINDOW",
    "SPACING_BITS",
    "WINDOW_BITS",
    "aligned",
    "buffer_address",
    "function_address",
    "nearest",
]

# Buffers lie 1 TiB apart, so that every wrong 32-bit index, of elements up to 128 bytes, still has one nearest buffer:
# the one that the kernel meant. The first half belongs to none: a null pointer with an index.
SPACING_BITS = 40
HALF = 1 << (SPACING_BITS - 1)

# Far from every buffer and from each other: a wrong index into shared memory stays one.
WINDOW_BITS = 60
LOCAL_WINDOW = 1 << WINDOW_BITS
SHARED_WINDOW = 2 << WINDOW_BITS
FUNCTION_WINDOW = 4 << WINDOW_BITS
FUNCTION_SPACING = 16


def aligned(at: int, alignment: int) -> int:
    """The first place from ``at`` on that an alignment divides; none counts as 1.

    >>> aligned(5, 4), aligned(8, 4), aligned(5, 0)
    (8, 8, 5)
    """
    step = max(1, alignment)
    return -(-at // step) * step


def buffer_address(index: int) -> int:
    """Where the buffer of this index begins."""
    return (index + 1) << SPACING_BITS


def nearest(address: Any) -> Any:
    """The index of the buffer that an address, or each of many, belongs to or lies next to; −1 for none."""
    return ((address + HALF) >> SPACING_BITS) - 1


def function_address(index: int) -> int:
    """What a pointer to the function of this index holds."""
    return FUNCTION_WINDOW + FUNCTION_SPACING * index
