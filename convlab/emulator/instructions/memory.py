"""Loads, stores, atomics, asynchronous copies, and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.addresses import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BITS
from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.memory.atomics import OPERATIONS
from convlab.emulator.program import Address, Immediate, Instruction, Operand, Register, Symbol, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["atomic", "copy", "fence", "hint", "is_space", "load", "store", "to_generic"]

HALVES = ("f16", "bf16", "f16x2", "bf16x2")
# the kind of a type → what atomics do with it
ATOMICS = {
    **dict.fromkeys("iu", tuple(OPERATIONS)),
    **{"f": ("add", "min", "max", "exch"), "half": ("add", "min", "max")},
}
WINDOWS = {"global": 0, "const": 0, "param": 0, "local": LOCAL_WINDOW, "shared": SHARED_WINDOW}


@handles("cvta")
def to_generic(t: Translator, instruction: Instruction) -> None:
    """Global addresses are the same in the generic space; local and shared ones lie in a window of it."""
    window = WINDOWS.get(t.space())
    if window is None:
        raise t.unsupported()
    dtype = type_of(t, instruction)
    sign = "-" if "to" in instruction.parts else "+"
    address = t.read(instruction.operands[1], DTYPES["b64"] if dtype.itemsize == 8 else dtype)
    if window and dtype.itemsize == 8:
        address = f"{address} {sign} {t.constant(window, DTYPES['b64'])}"
    t.write(instruction.operands[0], address, DTYPES["b64"] if dtype.itemsize == 8 else dtype)


@handles("isspacep")
def is_space(t: Translator, instruction: Instruction) -> None:
    """Whether a generic address lies in a space."""
    space = t.space()
    window = WINDOWS.get(space)
    if window is None:
        raise t.unsupported()
    address = t.read(instruction.operands[1], DTYPES["b64"])
    if not window:
        t.write(instruction.operands[0], f"memory.everywhere.holds({space!r}, {address})", DTYPES["pred"])
        return
    number = t.constant(window >> WINDOW_BITS, DTYPES["b64"])
    t.write(instruction.operands[0], f"({address} >> {WINDOW_BITS}) == {number}", DTYPES["pred"])


@handles("ld", "ldu")
def load(t: Translator, instruction: Instruction) -> None:
    """Loads of one to eight elements."""
    dtype = type_of(t, instruction)
    if instruction.parts[-1].startswith("b"):
        dtype = np.dtype(f"u{dtype.itemsize}")  # bits have no sign: into a wider register they go with zeros
    target, address = instruction.operands
    targets = target.items if isinstance(target, Vector) else (target,)
    space = t.space()
    if space == "param" and _is_kernel_parameter(t, address):
        _load_parameters(t, targets, dtype, address)
        return
    names = t.load(dtype, len(targets), t.address(address, space), _holder(t, address, space))
    for name, register in zip(names, targets, strict=True):
        t.write(register, name, dtype)


def _is_kernel_parameter(t: Translator, address: Operand) -> bool:
    return isinstance(address, Address) and isinstance(address.base, Symbol) and address.base.name in t.layout.params


def _holder(t: Translator, address: Operand, space: str) -> str:
    """Where a parameter lies: among the buffers those of the launch, in local memory those of functions."""
    if space != "param" or not isinstance(address, Address):
        return space
    framed = isinstance(address.base, Symbol) and address.base.name in t.layout.framed
    return "local" if framed or not t.layout.kernel else "global"


def _load_parameters(t: Translator, targets: tuple[Operand, ...], dtype: np.dtype[Any], address: Operand) -> None:
    """Parameters of the kernel are the same for all lanes: scalars, from the packed bytes of the launch."""
    assert isinstance(address, Address)
    assert isinstance(address.base, Symbol)
    param, at = t.layout.params[address.base.name]
    for n, register in enumerate(targets):
        offset = address.base.offset + address.offset + n * dtype.itemsize
        if not 0 <= offset <= param.size - dtype.itemsize:
            raise t.unsupported(f"byte {offset} of a parameter of {param.size} bytes")
        t.write(register, f"memory.parameter({at + offset}, {t.name_type(dtype)})", dtype)


@handles("st")
def store(t: Translator, instruction: Instruction) -> None:
    """Stores of one to eight elements."""
    dtype = type_of(t, instruction)
    address, value = instruction.operands
    values = value.items if isinstance(value, Vector) else (value,)
    space = t.space()
    texts = [t.read(item, dtype) for item in values]
    t.store(dtype, t.address(address, space), texts, _holder(t, address, space))


@handles("atom", "red")
def atomic(t: Translator, instruction: Instruction) -> None:
    """Atomic operations, which give what was there before, and reductions, which do not."""
    dtype = type_of(t, instruction)
    returns = instruction.parts[0] == "atom"
    target, address, *values = instruction.operands if returns else (instruction.operands[0], *instruction.operands)
    operation = next((part for part in instruction.parts[1:-1] if part in OPERATIONS), None)
    narrow = instruction.parts[-1] in HALVES
    if operation not in ATOMICS.get("half" if narrow else dtype.kind, ()):
        raise t.unsupported()
    if len(values) != (2 if operation == "cas" else 1):
        raise ValueError(f"{len(values)} values")
    if narrow:
        operation = f"{operation}.{instruction.parts[-1]}"
    if narrow or (instruction.parts[-1].startswith("b") and operation not in ("min", "max")):
        dtype = np.dtype(f"u{dtype.itemsize}")
    vectors = [value.items if isinstance(value, Vector) else (value,) for value in values]
    where = t.address(address, t.space())
    for n, items in enumerate(zip(*vectors, strict=True)):
        at = f"({where} + {t.constant(n * dtype.itemsize, DTYPES['b64'])})" if n else where
        old = t.atomic(operation, dtype, at, [t.read(item, dtype) for item in items])
        t.emit(f"v{n} = {old}")
    for n, item in enumerate((target.items if isinstance(target, Vector) else (target,)) if returns else ()):
        t.write(item, f"v{n}", dtype)  # only now: one of them may be a value of the next


@handles("cp")
def copy(t: Translator, instruction: Instruction) -> None:
    """``cp.async``: copies of 4, 8 or 16 bytes to shared memory, committed in groups and waited for."""
    parts = instruction.parts
    if parts[1:2] != ("async",) or "bulk" in parts or "mbarrier" in parts:
        raise t.unsupported("other than cp.async, its commit_group and its wait_group")
    if "commit_group" in parts or "wait_group" in parts or "wait_all" in parts:
        _commit_or_wait(t, instruction)
        return
    target, source, size, *rest = instruction.operands
    if not isinstance(size, Immediate) or size.value not in (4, 8, 16):
        raise t.unsupported("of another size than 4, 8 or 16 bytes")
    word = DTYPES["u32"]
    sites = (
        t.site("load", "global", word, int(size.value) // 4),
        t.site("load", "global", word, 1),
        t.site("store", "shared", word, int(size.value) // 4, asynchronous=True),
    )
    addresses = f"{t.address(target, 'shared')}, {t.address(source, 'global')}"
    t.emit(f"memory.copy({sites}, {addresses}, {_wanted(t, size, *rest)}, lanes)")


def _wanted(t: Translator, size: Operand, limit: Operand | None = None) -> str:
    """How many bytes of the source are read: all, as many as a number says, or none where a predicate holds."""
    word = DTYPES["u32"]
    if isinstance(limit, Register) and t.is_predicate(limit):
        return f"~{t.read(limit, DTYPES['pred'])} * {t.read(size, word)}"
    return t.read(size if limit is None else limit, word)


def _commit_or_wait(t: Translator, instruction: Instruction) -> None:
    """``commit_group``, ``wait_group n``, or ``wait_all``, which waits for the group that is still open, too."""
    if "commit_group" in instruction.parts:
        t.emit("memory.commit(lanes)")
        return
    pending = instruction.operands[0] if "wait_group" in instruction.parts else Immediate(-1)
    assert isinstance(pending, Immediate)
    t.emit(f"memory.wait({int(pending.value)}, lanes)")


@handles("fence", "membar")
def fence(t: Translator, instruction: Instruction) -> None:
    """Orders that hold here anyway: lanes see each other's writes at once."""
    t.emit("memory.fence(lanes)")


@handles("prefetch", "prefetchu", "applypriority", "discard", "nanosleep", "griddepcontrol", "setmaxnreg")
def hint(t: Translator, instruction: Instruction) -> None:
    """Hints change nothing that a program can see."""
