"""Jumps and calls: where a block goes is in its own record, so that little is left to compute."""

from __future__ import annotations

import numpy as np

from convlab.emulator.calls import callee, signature_of
from convlab.emulator.instructions.table import handles
from convlab.emulator.layout import passed
from convlab.emulator.program import Instruction, Operand, Register, Symbol
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["BUILTINS", "call", "jump", "nothing", "trap"]

# Functions that CUDA itself provides: the expression that does their work, from the texts of their arguments.
BUILTINS = {
    "vprintf": "memory.print({0}, {1}, lanes)",
    "__assertfail": "memory.assert_failed({site}, {0}, {1}, {2}, {3}, lanes)",
    "free": "memory.free({site}, {0}, lanes)",
}


@handles("call")
def call(t: Translator, instruction: Instruction) -> None:
    """Arguments already lie where the function looks for them; CUDA's own functions run at once."""
    target, _ = callee(instruction)
    name = target.name if isinstance(target, Symbol) else ""
    if name in t.function.module.functions or isinstance(target, Register):
        return
    signature = signature_of(t.function, instruction)
    if name not in BUILTINS or signature is None:
        raise t.unsupported(f"the function {name[:40]}, which is not part of the source")
    operands = [operand for operand, _ in passed(t.function, instruction)]
    texts = [_argument(t, operand) for operand in operands[len(signature.returns) :]]
    result = BUILTINS[name].format(*texts, site=t.site("call", "", DTYPES["b32"], 1))
    t.emit(f"v0 = {result}")
    if signature.returns:
        site = t.site("store", "param", DTYPES["b32"], 1)
        assert isinstance(operands[0], Symbol)
        t.emit(f"memory.local.store({site}, {t.place(t.layout.addresses[operands[0].name])}, (v0,), lanes)")


def _argument(t: Translator, operand: Operand) -> str:
    """What is passed to one of CUDA's own functions, as 64 bits: addresses, sizes, line numbers."""
    assert isinstance(operand, Symbol)
    dtype = np.dtype(f"u{t.function.scratch[operand.name].size}")
    name = f"a{len(t.lines)}"
    site = t.site("load", "param", dtype, 1)
    t.emit(f"({name},) = memory.local.load({site}, {t.place(t.layout.addresses[operand.name])}, lanes)")
    return f"{name}.astype({t.name_type(DTYPES['b64'])})"


@handles("bra", "brx", "ret", "exit")
def jump(t: Translator, instruction: Instruction) -> None:
    """The block's own record says where it goes: there is nothing to compute."""


@handles("trap")
def trap(t: Translator, instruction: Instruction) -> None:
    """Ends the launch."""
    t.emit(f"memory.trapped({t.site('trap', '', DTYPES['b32'], 1)}, lanes)")


@handles("brkpt", "pmevent")
def nothing(t: Translator, instruction: Instruction) -> None:
    """For debuggers and profilers that are not here."""
