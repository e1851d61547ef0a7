"""Grids and blocks: one to three whole numbers within what every GPU allows."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

from convlab.emulator.specials import Dim3
from convlab.errors import LaunchError

__all__ = ["Dim", "Dim3", "block_shape", "grid_shape"]

Dim = int | tuple[int, ...]

# CUDA C++ Programming Guide, table "Technical specifications per compute capability": the same from 5.0 on.
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_BLOCK_THREADS = 1024


def grid_shape(grid: Dim) -> Dim3:
    """Complete a number of blocks to (x, y, z).

    >>> grid_shape(7), grid_shape((7, 2))
    ((7, 1, 1), (7, 2, 1))

    Raises ``LaunchError`` for what is not one to three positive whole numbers, or is too large.
    """
    return _shape("grid", grid, _GRID_LIMITS, "blocks")


def block_shape(block: Dim) -> Dim3:
    """Complete a number of threads to (x, y, z).

    >>> block_shape((32, 8))
    (32, 8, 1)

    Raises ``LaunchError`` as `grid_shape` does, and for more than 1024 threads in all.
    """
    shape = _shape("block", block, _BLOCK_LIMITS, "threads")
    if prod(shape) > _BLOCK_THREADS:
        raise LaunchError(
            f"block={block!r} has {prod(shape)} threads, and a block can have {_BLOCK_THREADS}.\n"
            "  Fix: make the block smaller and the grid larger."
        )
    return shape


def _shape(what: str, given: Any, limits: Dim3, unit: str) -> Dim3:
    fix = f"  Fix: pass an int, or a tuple of one to three, such as {what}=(32, 8)."
    parts = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    try:
        sizes = [index(part) for part in parts]
    except TypeError:
        sizes = []
    if not 1 <= len(sizes) <= 3 or any(isinstance(part, bool) for part in parts):
        raise LaunchError(f"{what}={given!r} is not a number of {unit} along x, y and z.\n{fix}")
    fixes = {"block": "make the block smaller and the grid larger", "grid": "use more of another axis"}
    for axis, size, limit in zip("xyz", sizes, limits, strict=False):
        if size < 1:
            raise LaunchError(f"{what}={given!r} has {size} {unit} along {axis}, and needs at least 1.\n{fix}")
        if size > limit:
            raise LaunchError(
                f"{what}={given!r} has {size} {unit} along {axis}, and {limit} is the most there.\n"
                f"  Fix: {fixes[what]}."
            )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
