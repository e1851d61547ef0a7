"""Loads, stores and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.local import LOCAL_WINDOW
from convlab.emulator.program import Address, Instruction, Operand, Register, Symbol, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES


@handles("cvta")
def to_generic(t: Translator, instruction: Instruction) -> None:
    """Global addresses are the same in the generic space; local ones lie in a window of it."""
    window = {"global": 0, "local": LOCAL_WINDOW}.get(instruction.parts[-2])
    if window is None:
        raise t.unsupported()
    sign = "-" if "to" in instruction.parts else "+"
    address = t.read(instruction.operands[1], DTYPES["b64"])
    moved = f"{address} {sign} {t.constant(window, DTYPES['b64'])}" if window else address
    t.write(instruction.operands[0], moved, DTYPES["b64"])


@handles("ld", "ldu")
def load(t: Translator, instruction: Instruction) -> None:
    """Loads of one, two or four elements."""
    dtype = type_of(t, instruction)
    if instruction.parts[-1].startswith("b"):
        dtype = np.dtype(f"u{dtype.itemsize}")  # bits have no sign: into a wider register they go with zeros
    target, address = instruction.operands
    targets = target.items if isinstance(target, Vector) else (target,)
    if "param" in instruction.parts:
        _load_parameters(t, targets, dtype, address)
        return
    space = _space(t, instruction)
    site = t.site("load", space, dtype, len(targets))
    names = [f"v{n}" for n in range(len(targets))]
    t.emit(f"{', '.join(names)}, = memory.{SPACES[space]}load({site}, {_address(t, address)}, lanes)")
    for name, register in zip(names, targets, strict=True):
        t.write(register, name, dtype)


def _load_parameters(t: Translator, targets: tuple[Operand, ...], dtype: np.dtype[Any], address: Operand) -> None:
    """Parameters are the same for all lanes: scalars, from the packed bytes of the launch; results are registers."""
    if not isinstance(address, Address):
        raise t.unsupported()
    if isinstance(address.base, Register):
        t.write(targets[0], t.read(address.base, dtype), dtype)
        return
    if not isinstance(address.base, Symbol) or address.base.name not in t.params:
        raise t.unsupported("a parameter's address that is computed")
    param, at = t.params[address.base.name]
    for n, register in enumerate(targets):
        offset = address.offset + n * dtype.itemsize
        if not 0 <= offset <= param.size - dtype.itemsize:
            raise t.unsupported(f"byte {offset} of a parameter of {param.size} bytes")
        t.write(register, f"memory.parameter({at + offset}, {t.name_type(dtype)})", dtype)


@handles("st")
def store(t: Translator, instruction: Instruction) -> None:
    """Stores of one, two or four elements; an argument of a call goes to its register."""
    dtype = type_of(t, instruction)
    address, value = instruction.operands
    values = value.items if isinstance(value, Vector) else (value,)
    if "param" in instruction.parts and isinstance(address, Address):
        t.write(address.base, t.read(values[0], dtype), dtype)
        return
    space = _space(t, instruction)
    site = t.site("store", space, dtype, len(values))
    texts = ", ".join(t.read(item, dtype) for item in values)
    t.emit(f"memory.{SPACES[space]}store({site}, {_address(t, address)}, ({texts},), lanes)")


SPACES = {"global": "", "local": "local."}  # the memory space of an access → where generated code finds it
ORDERS = {"volatile", "relaxed", "acquire", "release"}


def _space(t: Translator, instruction: Instruction) -> str:
    """The memory space of an access."""
    parts = set(instruction.parts[1:-1])
    space = next((name for name in ("global", "local", "shared", "const") if name in parts), "")
    if not space and t.entry.locals:
        raise t.unsupported("through a pointer that may point to a local array")
    if parts & ORDERS:
        raise t.unsupported("volatile or ordered")
    if space and space not in SPACES:
        raise t.unsupported(f"{space} memory")
    return space or "global"  # where there are no local arrays, a generic address is a global one


def _address(t: Translator, address: Operand) -> str:
    """The address of each lane, a signed 64-bit number of bytes."""
    if not isinstance(address, Address):
        raise t.unsupported()
    base = t.read(address.base, DTYPES["b64"])
    return f"{base} + {t.constant(address.offset, DTYPES['b64'])}" if address.offset else base
