"""What counters count by: the class of each instruction, and its floating-point operations."""

from __future__ import annotations

from convlab.emulator.program import Instruction

__all__ = ["CLASSES", "class_of", "flops"]

CLASSES = (
    *("fp16", "fp32", "fp64", "integer", "conversion"),
    *("memory", "control", "communication", "tensor", "other"),
)

BY_OPCODE = {
    "memory": (
        *("ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix"),
        *("prefetch", "prefetchu", "applypriority", "discard"),
    ),
    "control": (
        *("bra", "brx", "call", "ret", "exit", "trap", "brkpt", "bar", "barrier"),
        *("membar", "fence", "nanosleep", "griddepcontrol", "setmaxnreg"),
    ),
    "communication": ("shfl", "vote", "match", "redux", "elect", "activemask", "movmatrix"),
    "tensor": ("mma",),
    "conversion": ("cvt",),
    "other": ("mov", "cvta", "isspacep", "selp", "slct", "prmt"),
}
OPCODES = {opcode: name for name, opcodes in BY_OPCODE.items() for opcode in opcodes}
BY_TYPE = {
    **{"f16": "fp16", "f16x2": "fp16", "bf16": "fp16", "bf16x2": "fp16", "f32": "fp32", "f64": "fp64"},
    **{f"{sign}{bits}": "integer" for sign in "usb" for bits in (8, 16, 32, 64)},
}

# As Nsight Compute counts: additions and multiplications are one operation, fused ones two, all else none.
FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}


def class_of(instruction: Instruction) -> str:
    """The class of an instruction: by its opcode, or else by its type.

    >>> from convlab.emulator.program import Place
    >>> [class_of(Instruction(("add", kind), (), None, Place("", 0))) for kind in ("f32", "s64", "f16x2")]
    ['fp32', 'integer', 'fp16']
    """
    parts = instruction.parts
    if parts[0] == "wmma":
        return "tensor" if "mma" in parts[1:] else "memory"
    types = (BY_TYPE[part] for part in reversed(parts) if part in BY_TYPE)  # of what it reads, not of what it writes
    return OPCODES.get(parts[0]) or next(types, "other")


def flops(instruction: Instruction) -> int:
    """Floating-point operations that a lane does in one instruction; both halves of a pair count."""
    kind = BY_TYPE.get(instruction.parts[-1], "")
    pair = 2 if instruction.parts[-1].endswith("x2") else 1
    return FLOPS.get(instruction.parts[0], 0) * pair if kind.startswith("fp") else 0
