"""What document_instructions.py tries: forms of instructions, as PTX and the code's tables have them, with operands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from convlab.emulator.fragments import SHAPES, fragment
from convlab.emulator.instructions import arithmetic, bits, comparison, floating, video
from convlab.emulator.instructions.tensor import ACCUMULATORS
from convlab.emulator.types import SIZES

__all__ = ["FLOATS", "INTEGERS", "tried"]

REGISTERS = {1: "h1", 2: "h1", 4: "r1", 8: "l1"}  # by size
INTEGERS = tuple(f"{sign}{size}" for size in (8, 16, 32, 64) for sign in "bus")
FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")
ALL = (*INTEGERS, *FLOATS, "s16x2", "u16x2")
RESULTS = (*ALL, "tf32", "e4m3x2", "e5m2x2")  # what only conversions know
WORDS = ("b32", "u32", "s32")
SCALARS = tuple(f"{sign}{size}" for size in (16, 32, 64) for sign in "us")
SYNC = "r1, 0x1f, 0xffffffff"
TESTS = ",".join(dict.fromkeys((*comparison.FLOATS, *comparison.UNSIGNED)))
CACHE = "nc,ca,cg,cs,lu,cv,L1::evict_first,L1::evict_last,L1::no_allocate,L2::64B,L2::128B,L2::256B"
ORDERS = "weak,volatile,relaxed.cta,relaxed.gpu,relaxed.sys,acquire.cta,acquire.gpu,acquire.sys,release.gpu"
ATOMS = "add,sub,min,max,inc,dec,and,or,xor,exch"

Form = tuple[str, Iterable[str], str]  # the opcode without its type, with choices in braces; types; operands

# What is tried, by the opcode's first part. In operands $ is a register of the type, $$ one of twice its size.
FORMS: dict[str, list[Form]] = {
    **{op: [(f"{op}{{,.cc}}", WORDS + SCALARS, "$, $, $")] for op in ("addc", "subc")},
    "madc": [("madc.{lo,hi}{,.cc}", WORDS + SCALARS, "$, $, $, $")],
    "testp": [(f"testp.{{{','.join(floating.TESTS)}}}", ALL, "p1, $")],
    **{op: [(op, ALL, "$, $, r1")] for op in ("shl", "shr")},
    "lop3": [("lop3", ALL, "$, $, $, $, 0x96"), ("lop3.{or,and}", ALL, "$|p1, $, $, $, 0x96, p2")],
    "dp4a": [("dp4a.{s32,u32}", WORDS, "r1, r2, r3, r1")],
    "dp2a": [("dp2a.{lo,hi}.{s32,u32}", WORDS, "r1, r2, r3, r1")],
    "setp": [
        (f"setp.{{{TESTS}}}", ALL, "p1, $, $"),
        ("setp.lt.{and,or,xor}", ALL, "p1|p2, $, $, p3"),
        ("setp.lt.ftz", ALL, "p1, $, $"),
    ],
    "set": [("set.lt.{u32,s32,f32,f16,bf16,f16x2,bf16x2}", ALL, "r1, $, $"), ("set.lt.and.u32", ALL, "r1, $, $, p1")],
    "selp": [("selp", ALL, "$, $, $, p1")],
    "slct": [(f"slct.{{{','.join(ALL)}}}", ("s32", "f32"), "#, #, #, r1")],
    "mov": [("mov", ("pred",), "p1, p2"), ("mov", ALL, "$, $"), ("mov", ALL, "$$, {$, $}")],
    "cvt": [
        (f"cvt{{,.rn,.rz,.rm,.rp,.rna,.rni,.rzi,.rmi,.rpi}}.{{{','.join(RESULTS)}}}", RESULTS, "#, $"),
        ("cvt{.rn,.rz}{,.relu,.satfinite}.{f16x2,bf16x2,e4m3x2,e5m2x2}", ("f32",), "#, r1, r2"),
        ("cvt.sat.{u8,s8,u16,s16,u32,s32,f32}", ALL, "#, $"),
        ("cvt.pack.sat.{u16,s16}", ("s32",), "r1, r2, r3"),
        ("cvt.pack.sat.{u8,s8}.s32", ("b32",), "r1, r2, r3, r1"),
    ],
    "cvta": [("cvta{,.to}.{global,shared,local,const,param}", ALL, "$, $")],
    "isspacep": [("isspacep.{global,shared,local,const}", ("",), "p1, l1")],
    **{
        op: [
            (f"{op}{{,.global,.shared,.local,.const}}", ALL, "$, [l1]"),
            (f"{op}.param", ALL, "$, [k0]"),
            (f"{op}.global.v2", ALL, "{$, $}, [l1]"),
            (f"{op}.global.v4", ALL, "{$, $, $, $}, [l1]"),
            (f"{op}.global.v8", ALL, "{$, $, $, $, $, $, $, $}, [l1]"),
            (f"{op}.{{{ORDERS}}}.global", ALL, "$, [l1]"),
            (f"{op}.global.{{{CACHE}}}", ALL, "$, [l1]"),
        ]
        for op in ("ld", "ldu")
    },
    "st": [
        ("st{,.global,.shared,.local}", ALL, "[l1], $"),
        ("st.param", ALL, "[a0], $"),
        ("st.global.v2", ALL, "[l1], {$, $}"),
        ("st.global.v4", ALL, "[l1], {$, $, $, $}"),
        ("st.global.v8", ALL, "[l1], {$, $, $, $, $, $, $, $}"),
        (f"st.{{{ORDERS}}}.global", ALL, "[l1], $"),
        (f"st.global.{{{CACHE}}}", ALL, "[l1], $"),
    ],
    "atom": [
        (f"atom{{,.global,.shared}}.{{{ATOMS}}}", ALL, "$, [l1], $"),
        ("atom{,.global,.shared}.cas", ALL, "$, [l1], $, $"),
        ("atom.{relaxed,acquire,release,acq_rel}.{cta,gpu,sys}.global.add", ALL, "$, [l1], $"),
        ("atom.global.add.noftz", ALL, "$, [l1], $"),
        ("atom.global.v2.add", ALL, "{$, $}, [l1], {$, $}"),
        ("atom.global.v4.add", ALL, "{$, $, $, $}, [l1], {$, $, $, $}"),
    ],
    "red": [
        (f"red{{,.global,.shared}}.{{{ATOMS}}}", ALL, "[l1], $"),
        ("red.global.v2.add", ALL, "[l1], {$, $}"),
        ("red.global.v4.add", ALL, "[l1], {$, $, $, $}"),
    ],
    "cp": [
        *(("cp.async.ca.shared.global", ("",), f"[l1], [l2], {size}") for size in (4, 8, 16)),
        ("cp.async.cg.shared.global{,.L2::128B}", ("",), "[l1], [l2], 16, r1"),
        ("cp.async.{commit_group,wait_all}", ("",), ""),
        ("cp.async.wait_group", ("",), "1"),
    ],
    "fence": [("fence.{sc,acq_rel}.{cta,gpu,sys}", ("",), "")],
    "membar": [("membar.{cta,gl,sys}", ("",), "")],
    **{op: [(f"{op}.{{global.L1,global.L2,uniform.L1}}", ("",), "[l1]")] for op in ("prefetch", "prefetchu")},
    "applypriority": [("applypriority.global.L2::evict_normal", ("",), "[l1], 128")],
    "discard": [("discard.global.L2", ("",), "[l1], 128")],
    "nanosleep": [("nanosleep", WORDS, "r1")],
    "griddepcontrol": [("griddepcontrol.{launch_dependents,wait}", ("",), "")],
    "setmaxnreg": [("setmaxnreg.{inc,dec}.sync.aligned", WORDS, "64")],
    "call": [("call{,.uni}", ("",), "(a0), g, (a1)")],
    "bra": [("bra{,.uni}", ("",), "end")],
    "brx": [("brx.idx{,.uni}", ("",), "r1, table")],
    **{op: [(f"{op}{{,.uni}}", ("",), "")] for op in ("ret", "exit", "trap", "brkpt")},
    "pmevent": [("pmevent{,.mask}", ("",), "1")],
    "shfl": [("shfl.sync.{up,down,bfly,idx}", ALL, f"$|p1, $, {SYNC}")],
    "vote": [("vote{.sync}.{all,any,uni}", ("pred",), "p1, p2, 0x1f"), ("vote{.sync}.ballot", ALL, "$, p1, 0x1f")],
    "match": [("match.any.sync", ALL, "r1, $, 0x1f"), ("match.all.sync", ALL, "r1|p1, $, 0x1f")],
    "redux": [("redux.sync.{add,min,max,and,or,xor}", ALL, "$, $, 0x1f")],
    "elect": [("elect.sync", ("",), "r1|p1, 0x1f")],
    "activemask": [("activemask", ALL, "$")],
    **{
        op: [
            (f"{op}{{,.cta}}{{.sync,.arrive}}{{,.aligned}}", ("",), "1, 64"),
            (f"{op}{{,.cta}}.red{{,.aligned}}.popc", ("u32",), "r1, 0, p1"),
            (f"{op}{{,.cta}}.red{{,.aligned}}.{{and,or}}", ("pred",), "p1, 0, p2"),
            (f"{op}.warp.sync", ("",), "0xffffffff"),
        ]
        for op in ("bar", "barrier")
    },
    **{
        op: [(f"{op}.{{u32,s32}}.{{u32,s32}}{{,.sat,.add}}", WORDS, "r1, r2, r3, r1")]
        for op in video.SIDE_BY_SIDE
        if not op.startswith("vset")
    },
    **{
        op: [(f"{op}.{{u32,s32}}.{{u32,s32}}{{,.sat}}{{,.add,.min,.max}}", WORDS, "r1, r2, r3, r1")]
        for op in ("vadd", "vsub", "vabsdiff", "vmin", "vmax")
    },
    **{op: [(f"{op}.{{u32,s32}}.{{u32,s32}}{{,.sat}}.{{clamp,wrap}}", WORDS, "r1, r2, r3")] for op in video.SHIFTS},
    **{
        op: [(f"{op}.{{{','.join(video.COMPARISONS)}}}.{{u32,s32}}", WORDS, "r1, r2, r3, r1")]
        for op in ("vset", "vset2", "vset4")
    },
    "vmad": [("vmad.{u32,s32}.{u32,s32}{,.sat}{,.po,.shr7,.shr15}", WORDS, "r1, r2, r3, r1")],
    **{
        op: [(f"{op}.sync.aligned.m8n8{{,.trans}}.{{x1,x2,x4}}{{,.shared}}", ("b16",), text)]
        for op, text in (("ldmatrix", "*, [l1]"), ("stmatrix", "[l1], *"))
    },
    "movmatrix": [("movmatrix.sync.aligned.m8n8.trans", ("b16",), "r1, r2")],
}
ROWS = {*arithmetic.SIGNED_WORD, *arithmetic.LOGIC, *floating.FLOATS, *bits.BITS}  # forms that tables of the code hold
OPERANDS = (
    "$, $",
    "$, $, $",
    "$, $, $, $",
    "r1, $",
    "r1, $, $",
    "$, $, r1, r2",
    "$, $, $, r1, r2",
    "$$, $, $",
    "$$, $, $, $$",
)


def _choices(form: str) -> Iterator[str]:
    """``ld{,.global}`` is ``ld`` and ``ld.global``."""
    pieces = re.split(r"\{(.*?)\}", form)
    options = [piece.split(",") if at % 2 else [piece] for at, piece in enumerate(pieces)]
    return map("".join, product(*options))


def tried() -> Iterator[tuple[str, str, list[str]]]:
    """Every form, each type, and the instructions made of them, of which one should go through."""
    for form, kind, operands in _candidates():
        yield form, kind, [_written(form, kind, each) for each in operands]


def _candidates() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every form, a type, and the operands that it may take."""
    for name in sorted(ROWS):
        form = name.partition("/")[0]
        yield from ((form, kind, OPERANDS) for kind in ("pred", *ALL))
    for mode in bits.MODES:
        yield f"prmt.b32.{mode}", "", OPERANDS
    for rows in FORMS.values():
        for form, kinds, operands in rows:
            yield from ((each, kind, (operands,)) for kind in tuple(kinds) for each in _choices(form))
    yield from _products()


def _products() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """``mma``, and ``wmma.mma`` with its loads and stores: each shape, with all types of factors and sums."""
    layouts = tuple(product(("row", "col"), repeat=2))
    for opcode, shapes in SHAPES.items():
        types = [
            (a, b, *sums) for a, b in product(shapes, shapes) for sums in product(sorted(ACCUMULATORS[a]), repeat=2)
        ]
        for (a, b, c, d), (rows, columns) in product(types, layouts):
            for shape in (shape for shape in shapes[a] if shape in shapes[b]):
                whole = {who: fragment(opcode, shape, who, kind) for who, kind in (("a", a), ("b", b), ("c", c))}
                whole["d"] = fragment(opcode, shape, "c", d)
                registers = {who: _vector(each.registers, each.bits) for who, each in whole.items()}
                operands = ", ".join(registers[who] for who in "dabc")
                if opcode == "mma":
                    yield f"mma.sync.aligned.{shape}.{rows}.{columns}", f"{d}.{a}.{b}.{c}", (operands,)
                    continue
                kinds = f"{d}.{c}" if a == b == "f16" else f"{d}.{a}.{b}.{c}"
                yield f"wmma.mma.sync.aligned.{rows}.{columns}.{shape}", kinds, (operands,)
                for who, kind in (("a", a), ("b", b), ("c", c)):
                    load = f"{registers[who]}, [l1], r1"
                    yield f"wmma.load.{who}.sync.aligned.{rows}.{shape}.global", kind, (load,)
                yield f"wmma.store.d.sync.aligned.{rows}.{shape}.global", d, (f"[l1], {registers['d']}, r1",)


def _vector(count: int, size: int) -> str:
    """As many registers as a fragment takes."""
    return "{" + ", ".join([REGISTERS[8 if size == 64 else 4]] * count) + "}"


def _written(form: str, kind: str, operands: str) -> str:
    """The text of an instruction, with registers of the right size."""
    result = next((part for part in reversed(form.split(".")) if part in SIZES), kind)
    count = next((int(part[1]) for part in form.split(".") if re.fullmatch("x[124]", part)), 1)
    size = SIZES.get(kind or result, 4)
    names = {"$$": REGISTERS[min(8, 2 * size)], "$": "p1" if kind == "pred" else REGISTERS[size]}
    names |= {"#": REGISTERS[SIZES.get(result, 4)], "*": _vector(count, 32)}
    for sign, name in names.items():
        operands = operands.replace(sign, name)
    return f"{form}{'.' * bool(kind)}{kind} {operands}"
