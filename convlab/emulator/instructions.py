"""The table of PTX instructions: one short handler for each family, which emits NumPy code.

Source: PTX ISA, "Instruction Set".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from convlab.emulator.local import LOCAL_WINDOW
from convlab.emulator.numerics import DTYPES
from convlab.emulator.program import Address, Immediate, Instruction, Operand, Register, Symbol, Vector
from convlab.emulator.translator import Translator

__all__ = ["HANDLERS", "flops"]

Handler = Callable[[Translator, Instruction], None]
HANDLERS: dict[str, Handler] = {}


# family of type → opcode → expression; every operand and the result have the instruction's type
INTEGER = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul.lo": "{0} * {1}",
    "mul.hi": "multiply_high({0}, {1})",
    "mad.lo": "{0} * {1} + {2}",
    "div": "divide({0}, {1})",
    "rem": "remainder({0}, {1})",
    "min": "minimum({0}, {1})",
    "max": "maximum({0}, {1})",
    "neg": "-{0}",
    "abs": "absolute({0})",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "not": "~{0}",
    "brev": "reverse_bits({0})",
}
FLOAT = {
    "add": "{0} + {1}",
    "add.rn": "{0} + {1}",
    "sub": "{0} - {1}",
    "sub.rn": "{0} - {1}",
    "mul": "{0} * {1}",
    "mul.rn": "{0} * {1}",
    "fma.rn": "fma({0}, {1}, {2})",
    "div.rn": "{0} / {1}",
    "div.full": "{0} / {1}",
    "div.approx": "{0} / {1}",
    "rcp.rn": "{one} / {0}",
    "rcp.approx": "{one} / {0}",
    "sqrt.rn": "sqrt({0})",
    "sqrt.approx": "sqrt({0})",
    "rsqrt.approx": "{one} / sqrt({0})",
    "ex2.approx": "exp2({0})",
    "lg2.approx": "log2({0})",
    "sin.approx": "sin({0})",
    "cos.approx": "cos({0})",
    "tanh.approx": "tanh({0})",
    "min": "fmin({0}, {1})",
    "max": "fmax({0}, {1})",
    "neg": "-{0}",
    "abs": "absolute({0})",
    "copysign": "copysign({1}, {0})",
}
# rounding towards zero, down and up, of single precision only
DIRECTIONS = {"rz": "zero", "rm": "down", "rp": "up"}
SINGLE = {
    f"{name}.{mode}": template.replace("towards", f"{{{towards}}}")
    for mode, towards in DIRECTIONS.items()
    for name, template in {
        "add": "fma_directed({0}, {one}, {1}, towards)",
        "sub": "fma_directed({0}, {one}, -{1}, towards)",
        "mul": "fma_directed({0}, {1}, -{zero}, towards)",
        "fma": "fma_directed({0}, {1}, {2}, towards)",
    }.items()
}
CONSTANTS = {"one": 1.0, "zero": 0.0, "down": -np.inf, "up": np.inf}
PREDICATE = {name: INTEGER[name] for name in ("and", "or", "xor", "not")}
FAMILIES = {"i": INTEGER, "u": INTEGER, "f": FLOAT, "b": PREDICATE}

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNSIGNED = {
    "lo": "lt",
    "ls": "le",
    "hi": "gt",
    "hs": "ge",
}  # the names that PTX gives to unsigned comparisons
# from, to, modes: where NumPy's own conversion is the one that PTX asks for
PLAIN_CONVERSIONS = {("i", "i"), ("i", "f", "rn"), ("f", "f"), ("f", "f", "rn")}
ROUNDINGS = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


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


@handles(*{name.split(".")[0] for family in FAMILIES.values() for name in family} - {"mul", "mad"})
def arithmetic(t: Translator, instruction: Instruction) -> None:
    """Everything whose operands and result have one type: look the expression up, fill the operands in."""
    dtype = type_of(t, instruction)
    family = FAMILIES[dtype.kind] | (SINGLE if dtype == np.float32 else {})
    if dtype == np.float16 and instruction.parts[0] == "fma":
        raise t.unsupported("of half precision")
    template = family.get(".".join(part for part in instruction.parts[:-1] if part not in CLAMPS))
    if template is None:
        raise t.unsupported()
    operands = [_flushed(instruction, t.read(operand, dtype)) for operand in instruction.operands[1:]]
    named = {name: t.constant(value, dtype) for name, value in CONSTANTS.items() if f"{{{name}}}" in template}
    result = template.format(*operands, **named)
    t.write(instruction.operands[0], _clamped(t, instruction, result, dtype), dtype)


CLAMPS = ("ftz", "sat")  # modifiers of float instructions: flush denormals to zero, saturate to 0 … 1


def _flushed(instruction: Instruction, operand: str) -> str:
    """An operand as an instruction with ``.ftz`` sees it."""
    return f"flush({operand})" if "ftz" in instruction.parts else operand


def _clamped(t: Translator, instruction: Instruction, result: str, dtype: np.dtype[Any]) -> str:
    """A result after ``.ftz`` and ``.sat``, which only floats have here."""
    if dtype.kind != "f" and "sat" in instruction.parts:
        raise t.unsupported()
    if dtype.kind != "f":
        return result
    result = _flushed(instruction, f"({result})")
    return f"saturate({result})" if "sat" in instruction.parts else result


@handles("mul", "mad")
def multiply(t: Translator, instruction: Instruction) -> None:
    """``mul.wide`` and ``mad.wide`` double the type of the result; the other forms are plain arithmetic."""
    if instruction.parts[1] != "wide":
        arithmetic(t, instruction)
        return
    dtype = type_of(t, instruction)
    wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}")
    name = t.name_type(wide)
    a, b = (f"{t.read(operand, dtype)}.astype({name})" for operand in instruction.operands[1:3])
    added = f" + {t.read(instruction.operands[3], wide)}" if instruction.parts[0] == "mad" else ""
    t.write(instruction.operands[0], f"{a} * {b}{added}", wide)


@handles("shl", "shr")
def shift(t: Translator, instruction: Instruction) -> None:
    """Shifts; a literal count within the width needs no clamp."""
    dtype = type_of(t, instruction)
    if instruction.parts[0] == "shr" and instruction.parts[-1].startswith("b"):
        dtype = np.dtype(f"u{dtype.itemsize}")
    value, count = instruction.operands[1:]
    a = t.read(value, dtype)
    left = instruction.parts[0] == "shl"
    if isinstance(count, Immediate) and 0 <= count.value < 8 * dtype.itemsize:
        t.write(instruction.operands[0], f"{a} {'<<' if left else '>>'} {t.constant(count.value, dtype)}", dtype)
        return
    function = "shift_left" if left else "shift_right"
    t.write(instruction.operands[0], f"{function}({a}, {t.read(count, DTYPES['u32'])})", dtype)


@handles("setp")
def compare(t: Translator, instruction: Instruction) -> None:
    """``setp.lt.s32 p, a, b``, also combined with a predicate: ``setp.lt.and.s32 p, a, b, c``."""
    dtype = type_of(t, instruction)
    a, b = (_flushed(instruction, t.read(operand, dtype)) for operand in instruction.operands[1:3])
    name, *joined = [part for part in instruction.parts[1:-1] if part != "ftz"]
    result = _comparison(t, name, a, b, dtype)
    if joined:
        join = {"and": "&", "or": "|", "xor": "^"}.get(joined[0])
        if join is None:
            raise t.unsupported()
        result = f"({result}) {join} {t.read(instruction.operands[3], DTYPES['pred'])}"
    t.write(instruction.operands[0], result, DTYPES["pred"])


def _comparison(t: Translator, name: str, a: str, b: str, dtype: np.dtype[Any]) -> str:
    """One comparison; the names that end in ``u`` also hold when an operand is NaN."""
    if dtype.kind == "f" and name in ("num", "nan"):
        return f"{'~' if name == 'num' else ''}(isnan({a}) | isnan({b}))"
    unordered = dtype.kind == "f" and name.endswith("u")
    name = UNSIGNED.get(name, name[:-1] if unordered else name)
    if name not in COMPARISONS:
        raise t.unsupported()
    plain = f"({a} {COMPARISONS[name]} {b})"
    if unordered:
        return f"{plain} | isnan({a}) | isnan({b})"
    # PTX's `ne` is ordered: false when an operand is NaN, unlike Python's `!=`.
    return f"{plain} & ~(isnan({a}) | isnan({b}))" if name == "ne" and dtype.kind == "f" else plain


@handles("selp")
def selection(t: Translator, instruction: Instruction) -> None:
    """``selp d, a, b, p``."""
    dtype = type_of(t, instruction)
    target, a, b, chosen = instruction.operands
    condition = t.read(chosen, DTYPES["pred"])
    t.write(target, f"select({condition}, {t.read(a, dtype)}, {t.read(b, dtype)})", dtype)


@handles("mov")
def move(t: Translator, instruction: Instruction) -> None:
    """Copies, also of two halves into a whole, ``mov.b64 d, {a, b}``, and back.

    Arrays are never changed in place, so a second name for the same array is a copy.
    """
    dtype = type_of(t, instruction)
    target, value = instruction.operands
    if isinstance(value, Vector):
        t.write(target, _packed(t, value, dtype), dtype)
    elif isinstance(target, Vector):
        _unpack(t, target, t.read(value, np.dtype(f"u{dtype.itemsize}")), dtype)
    else:
        t.write(target, t.read(value, dtype), dtype)


def _packed(t: Translator, parts: Vector, dtype: np.dtype[Any]) -> str:
    """The bits of several registers side by side, the first one lowest."""
    size = dtype.itemsize // len(parts.items)
    whole, part = np.dtype(f"u{dtype.itemsize}"), np.dtype(f"u{size}")
    pieces = [
        f"({t.read(item, part)}.astype({t.name_type(whole)}) << {t.constant(8 * size * n, whole)})"
        for n, item in enumerate(parts.items)
    ]
    return f"bits({' | '.join(pieces)}, {t.name_type(dtype)})"


def _unpack(t: Translator, targets: Vector, value: str, dtype: np.dtype[Any]) -> None:
    """The bits of one register cut into several, the lowest first."""
    size = dtype.itemsize // len(targets.items)
    whole, part = np.dtype(f"u{dtype.itemsize}"), np.dtype(f"u{size}")
    for n, target in enumerate(targets.items):
        shifted = f"({value} >> {t.constant(8 * size * n, whole)})"
        t.write(target, f"{shifted}.astype({t.name_type(part)})", part)


@handles("clz", "popc")
def count_bits(t: Translator, instruction: Instruction) -> None:
    """Counts of bits are 32-bit numbers, whatever they count in."""
    dtype = np.dtype(f"u{type_of(t, instruction).itemsize}")
    function = {"clz": "leading_zeros", "popc": "bit_count"}[instruction.parts[0]]
    value = t.read(instruction.operands[1], dtype)
    t.write(instruction.operands[0], f"{function}({value}).astype({t.name_type(DTYPES['s32'])})", DTYPES["s32"])


@handles("bfi", "bfe")
def bit_field(t: Translator, instruction: Instruction) -> None:
    """``bfi d, a, b, position, length`` and ``bfe d, a, position, length``."""
    dtype = type_of(t, instruction)
    target, *values, position, length = instruction.operands
    function = {"bfi": "insert_field", "bfe": "extract_field"}[instruction.parts[0]]
    texts = [t.read(value, dtype) for value in values] + [t.read(n, DTYPES["u32"]) for n in (position, length)]
    t.write(target, f"{function}({', '.join(texts)})", dtype)


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


@handles("cvt")
def convert(t: Translator, instruction: Instruction) -> None:
    """Between integers, between floats, and from one to the other."""
    target, source = (DTYPES.get(kind) for kind in instruction.parts[-2:])
    if target is None or source is None:
        raise t.unsupported()
    value = _flushed(instruction, t.read(instruction.operands[1], source))
    modes = tuple(part for part in instruction.parts[1:-2] if part not in CLAMPS)
    kinds = ("fi"[source.kind in "iu"], "fi"[target.kind in "iu"])
    if (*kinds, *modes) in PLAIN_CONVERSIONS:
        expression = f"{value}.astype({t.name_type(target)})"
    elif kinds == ("f", "f") and len(modes) == 1 and modes[0] in ROUNDINGS:
        expression = f"{ROUNDINGS[modes[0]]}({value}).astype({t.name_type(target)})"
    elif kinds == ("f", "i") and len(modes) == 1 and modes[0] in ROUNDINGS:
        expression = f"to_integer({value}, {t.name_type(target)}, {ROUNDINGS[modes[0]]})"
    else:
        raise t.unsupported()
    t.write(instruction.operands[0], _clamped(t, instruction, expression, target), target)


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
