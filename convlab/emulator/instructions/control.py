"""Calls and jumps."""

from __future__ import annotations

from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction, Symbol, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES


@handles("call")
def call(t: Translator, instruction: Instruction) -> None:
    """The one function that kernels call so far: ``vprintf(format, arguments)``."""
    result, function, arguments = (*instruction.operands, *([None] * 3))[:3]
    if not isinstance(function, Symbol) or function.name != "vprintf":
        raise t.unsupported("a function that is not inlined")
    assert isinstance(result, Vector)
    assert isinstance(arguments, Vector)
    texts = (t.read(argument, DTYPES["b64"]) for argument in arguments.items)
    t.write(result.items[0], f"memory.print({', '.join(texts)}, lanes)", DTYPES["b32"])


@handles("bra", "ret", "exit")
def jump(t: Translator, instruction: Instruction) -> None:
    """The block's own record says where it goes: there is nothing to compute."""
