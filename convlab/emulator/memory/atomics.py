"""Atomic operations: lane after lane, in the order of lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.numerics.halves import from_f16, to_bf16, to_f16

__all__ = ["OPERATIONS", "update"]

# The operations of ``atom`` and ``red``, with the numbers that the compiled loop knows them by.
OPERATIONS = {
    name: number for number, name in enumerate(("add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"))
}


def update(operation: str, data: NDArray[Any], at: NDArray[np.int64], operands: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Combine memory with each lane's operands; returns what the lanes found.

    >>> memory = np.array([5, 0], "u4")
    >>> update("add", memory, np.array([0, 0, 1]), [np.array([1, 2, 3], "u4")]), memory
    (array([5, 6, 0], dtype=uint32), array([8, 3], dtype=uint32))

    ``add.f16``, ``add.bf16x2`` and their like take halves as their bits.

    Source: PTX ISA, "atom".
    """
    operation, _, narrow = operation.partition(".")
    first, second = (np.ascontiguousarray(values) for values in (operands[0], operands[-1]))
    old = np.empty(at.size, data.dtype)
    if narrow:
        per_element = data.itemsize // 2
        halves = (array.view(np.uint16) for array in (data, first, old))
        _halves(OPERATIONS[operation], narrow.startswith("bf16"), per_element, at, *halves)
        return old
    loop = _floats if data.dtype.kind == "f" else _integers
    loop(OPERATIONS[operation], data, at, first, second, old)
    return old


@njit(cache=True, nogil=True)
def _integers(operation: int, data: Any, at: Any, first: Any, second: Any, old: Any) -> None:
    one = first[:1].copy()  # one, and zero, of the data's own type: Numba would widen a literal
    one[:] = 1
    for lane in range(at.size):
        place = np.uint64(at[lane])
        was, value = data[place], first[lane]
        old[lane] = was
        if operation == 0:
            data[place] = was + value
        elif operation == 1:
            data[place] = min(was, value)
        elif operation == 2:
            data[place] = max(was, value)
        elif operation == 3:
            data[place] = value
        elif operation == 4:
            data[place] = second[lane] if was == value else was
        elif operation == 5:
            data[place] = was & value
        elif operation == 6:
            data[place] = was | value
        elif operation == 7:
            data[place] = was ^ value
        elif operation == 8:
            data[place] = was - was if was >= value else was + one[0]
        else:
            data[place] = value if was == was - was or was > value else was - one[0]


@njit(cache=True, nogil=True)
def _floats(operation: int, data: Any, at: Any, first: Any, second: Any, old: Any) -> None:
    for lane in range(at.size):
        place = np.uint64(at[lane])
        was, value = data[place], first[lane]
        old[lane] = was
        if operation == 0:
            data[place] = was + value
        elif operation == 1:
            data[place] = value if value < was or np.isnan(was) else was
        elif operation == 2:
            data[place] = value if value > was or np.isnan(was) else was
        else:
            data[place] = value


_single, _half, _brain = (njit(nogil=True)(each.function) for each in (from_f16, to_f16, to_bf16))


@njit(cache=True, nogil=True)
def _halves(operation: int, brain: bool, per_element: int, at: Any, data: Any, first: Any, old: Any) -> None:
    """Each half of an element by itself, computed as a single and rounded."""
    for n in range(at.size * per_element):
        place = np.uint64(at[n // per_element] * per_element + n % per_element)
        was = old[n] = data[place]
        if brain:
            a, b = np.uint32(was << 16).view(np.float32), np.uint32(first[n] << 16).view(np.float32)
        else:
            a, b = _single(was), _single(first[n])
        if operation == 0:
            a = np.float32(a + b)
        elif (operation == 1 and b < a) or (operation == 2 and b > a) or np.isnan(a):
            a = b
        data[place] = _brain(a) if brain else _half(a)
