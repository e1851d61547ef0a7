"""Sums and differences of numbers wider than a register: the carry goes from one instruction to the next."""

from __future__ import annotations

from convlab.emulator.instructions.rows import kind_of
from convlab.emulator.instructions.table import handles
from convlab.emulator.program import Instruction, Register
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["CARRY", "with_carry"]

CARRY = Register("#cc")  # the condition code, 0 or 1, in a register that no PTX can name

# form → the two numbers whose sum, with the carry, it computes
SUMS = {
    "add": "{0}, {1}",
    "sub": "{0}, ~{1}",  # the flag is the carry of a + ~b + 1: set where nothing was borrowed
    "mad.lo": "{0} * {1}, {2}",
    "mad.hi": "multiply_high({0}, {1}), {2}",
}


@handles("addc", "subc", "madc")
def with_carry(t: Translator, instruction: Instruction) -> None:
    """``add.cc`` sets the carry, ``addc`` takes it, ``addc.cc`` does both; so do ``sub`` and ``mad``."""
    takes = instruction.parts[0].endswith("c")
    opcode = instruction.parts[0].removesuffix("c")
    name = ".".join((opcode, *(part for part in instruction.parts[1:-1] if part != "cc")))
    if name not in SUMS or instruction.parts[-1] not in ("s32", "u32", "b32", "s64", "u64", "b64"):
        raise t.unsupported()
    kind = kind_of(t, instruction.parts[-1])
    numbers = SUMS[name]
    texts = [kind.read(t, operand) for operand in instruction.operands[1:]]
    carry = t.read(CARRY, DTYPES["u32"]) if takes else t.constant(int(opcode == "sub"), DTYPES["u32"])
    t.emit(f"v0, v1 = sum_with_carry({numbers.format(*texts)}, {carry})")
    t.write(instruction.operands[0], "v0", kind.stored)
    if "cc" in instruction.parts:
        t.write(CARRY, "v1", DTYPES["u32"])
