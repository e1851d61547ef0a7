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

__all__ = ["HANDLERS", "handles", "type_of"]

Handler = Callable[[Translator, Instruction], None]
HANDLERS: dict[str, Handler] = {}


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
