"""The table of PTX instructions: opcode → handler, a short function that emits NumPy code for it.

Source: PTX ISA, "Instruction Set".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from convlab.emulator.program import Instruction
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["HANDLERS", "flops", "handles", "type_of"]

Handler = Callable[[Translator, Instruction], None]
HANDLERS: dict[str, Handler] = {}


# As Nsight Compute counts: additions and multiplications are one operation, fused ones two, all else none.
FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}


def flops(instruction: Instruction) -> int:
    """Floating-point operations that a lane does in one instruction."""
    kind = DTYPES.get(instruction.parts[-1])
    return FLOPS.get(instruction.parts[0], 0) if kind is not None and kind.kind == "f" else 0


def handles(*opcodes: str) -> Callable[[Handler], Handler]:
    """Enter a handler into the table."""

    def enter(handler: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(opcodes, handler))
        return handler

    return enter


def type_of(t: Translator, instruction: Instruction) -> np.dtype[Any]:
    """The type that an opcode ends with."""
    kind = instruction.parts[-1]
    if kind not in DTYPES:
        raise t.unsupported()
    return DTYPES[kind]
