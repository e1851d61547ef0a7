"""All instructions: importing this package fills the table, one module a family."""

from __future__ import annotations

from convlab.emulator.instructions import (
    arithmetic,
    bits,
    carries,
    comparison,
    control,
    conversion,
    floating,
    memory,
    moves,
    tensor,
    video,
    warp,
)
from convlab.emulator.instructions.table import HANDLERS

__all__ = ["FAMILIES", "HANDLERS"]

FAMILIES = (
    *(arithmetic, floating, carries, bits, comparison, moves, conversion, video),
    *(memory, control, warp, tensor),
)
