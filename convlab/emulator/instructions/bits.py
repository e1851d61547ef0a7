"""Operations on bits: shifts, fields, counts, permutations, and any function of three bits."""

from __future__ import annotations

import numpy as np

from convlab.emulator.instructions.rows import Row, apply, kind_of, rows
from convlab.emulator.instructions.table import handles, type_of
from convlab.emulator.program import Immediate, Instruction, Operand, Vector
from convlab.emulator.translator import Translator
from convlab.emulator.types import DTYPES

__all__ = ["bit_operation", "dot_product", "logic", "shift"]

WORDS = ("u32", "u32", "u32")

# opcode without its type → what it computes
BITS = rows(
    {
        "popc": Row("count_ones({0})", "s32", ("bits",)),
        "clz": Row("leading_zeros({0})", "s32", ("bits",)),
        "brev": Row("reverse_bits({0})", "bits", ("bits",)),
        "cnot": "({0} == 0).astype({0}.dtype)",
        "bfind": Row("find_first({0}, False)", "s32"),
        "bfind.shiftamt": Row("find_first({0}, True)", "s32"),
        "fns": Row("find_nth({0}, {1}, {2})", "s32", ("u32", "u32", "s32")),
        "bfi": Row("insert_field({0}, {1}, {2}, {3})", "same", ("same", "same", "u32", "u32")),
        "bfe": Row("extract_field({0}, {1}, {2})", "same", ("same", "u32", "u32")),
        "bmsk.clamp": Row("bit_mask({0}, {1})", "u32", ("u32", "u32")),
        "bmsk.wrap": Row("bit_mask({0} & 31, {1} & 31)", "u32", ("u32", "u32")),
        "szext.clamp": Row("extend({0}, minimum({1}, 32))", "same", ("same", "u32")),
        "szext.wrap": Row("extend({0}, {1} & 31)", "same", ("same", "u32")),
        "shf.l.clamp": Row("funnel_left({0}, {1}, minimum({2}, 32))", "u32", WORDS),
        "shf.l.wrap": Row("funnel_left({0}, {1}, {2} & 31)", "u32", WORDS),
        "shf.r.clamp": Row("funnel_right({0}, {1}, minimum({2}, 32))", "u32", WORDS),
        "shf.r.wrap": Row("funnel_right({0}, {1}, {2} & 31)", "u32", WORDS),
        "prmt": Row("permute({0}, {1}, {2})", "u32", WORDS),
    }
)
MODES = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")  # of prmt, which PTX puts after the type


@handles(*{name.split(".")[0] for name in BITS})
def bit_operation(t: Translator, instruction: Instruction) -> None:
    """Everything that has a row: look it up, fill the operands in."""
    *name, kind = instruction.parts
    if name[0] == "prmt" and kind in MODES:
        apply(t, instruction, Row(f"permute_{kind}({{0}}, {{1}}, {{2}})", "u32", WORDS), kind_of(t, name[-1]))
        return
    row = BITS.get(".".join(name))
    whole = kind_of(t, kind)
    if row is None or whole.computed.kind not in "iu" or whole.computed != whole.stored:
        raise t.unsupported()
    apply(t, instruction, row, whole)


@handles("shl", "shr")
def shift(t: Translator, instruction: Instruction) -> None:
    """Shifts; a literal count within the width needs no clamp."""
    dtype = type_of(t, instruction)
    if dtype.kind not in "iu":
        raise t.unsupported()
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


# The functions of two bits, by their four results for 00, 01, 10, 11, the first one lowest.
OF_TWO_BITS = (
    *("{zero}", "~({a} | {b})", "~{a} & {b}", "~{a}", "{a} & ~{b}", "~{b}", "{a} ^ {b}", "~({a} & {b})"),
    *("{a} & {b}", "~({a} ^ {b})", "{b}", "~{a} | {b}", "{a}", "{a} | ~{b}", "{a} | {b}", "~{zero}"),
)
JOINS = {"and": "&", "or": "|"}


@handles("lop3")
def logic(t: Translator, instruction: Instruction) -> None:
    """``lop3.b32 d, a, b, c, table``, also ``lop3.or.b32 d|p, a, b, c, table, q``.

    Where c is 0 the result is one function of a and b; where c is 1 it differs from that in another one.
    """
    target, *operands, table = instruction.operands[:5]
    if not isinstance(table, Immediate) or not isinstance(table.value, int):
        raise t.unsupported("a table that is no literal")
    a, b, c = (t.read(operand, DTYPES["b32"]) for operand in operands)
    names = {"a": a, "b": b, "zero": t.constant(0, DTYPES["b32"])}
    without, with_c = (sum((table.value >> 2 * n + bit & 1) << n for n in range(4)) for bit in (0, 1))
    base, change = (OF_TWO_BITS[function].format(**names) for function in (without, without ^ with_c))
    result, predicate = target.items if isinstance(target, Vector) else (target, None)
    t.emit(f"v0 = ({base}) ^ (({change}) & {c})")
    if predicate is not None:
        _logic_predicate(t, instruction, predicate)
    t.write(result, "v0", DTYPES["b32"])


def _logic_predicate(t: Translator, instruction: Instruction, target: Operand) -> None:
    """The second result of lop3: whether the first one has any bit, joined with a predicate."""
    join = JOINS.get(instruction.parts[1])
    if join is None:
        raise t.unsupported()
    t.write(target, f"(v0 != 0) {join} {t.read(instruction.operands[5], DTYPES['pred'])}", DTYPES["pred"])


# opcode → what computes it, the sign of a's pieces, and how far b's bytes are shifted down before
DOT_PRODUCTS = {
    "dp4a": ("dot_of_bytes", 0x80, 0),
    "dp2a.lo": ("dot_of_halves", 0x8000, 0),
    "dp2a.hi": ("dot_of_halves", 0x8000, 16),
}


@handles("dp4a", "dp2a")
def dot_product(t: Translator, instruction: Instruction) -> None:
    """``dp4a.s32.u32 d, a, b, c``: four products of bytes; ``dp2a.lo``: two of halves of a with bytes of b."""
    *name, a_type, b_type = instruction.parts
    if ".".join(name) not in DOT_PRODUCTS or not {a_type, b_type} <= {"s32", "u32"}:
        raise t.unsupported()
    function, sign, shift = DOT_PRODUCTS[".".join(name)]
    word = DTYPES["u32"]
    target, *operands = instruction.operands
    a, b, c = (t.read(operand, word) for operand in operands)
    signs = (t.constant(sign * (a_type == "s32"), word), t.constant(0x80 * (b_type == "s32"), word))
    shifted = f"{b} >> {t.constant(shift, word)}" if shift else b
    t.write(target, f"{function}({a}, {shifted}, {c}, {', '.join(signs)})", word)
