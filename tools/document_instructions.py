"""Write docs/instructions.md, what the emulator executes, anew; with --check, only say whether it is up to date.

uv run tools/document_instructions.py [--check]

Nobody vouches for the table by hand: each form of instruction_forms.py is tried with each type,
and what goes through is listed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from types import ModuleType

from generated import renew
from instruction_forms import FLOATS, INTEGERS, tried

from convlab.emulator.advice import FUNCTIONS, OPCODES, SPECIAL, declined
from convlab.emulator.instructions import FAMILIES, HANDLERS, arithmetic, carries, control, floating
from convlab.emulator.layout import lay_out, share
from convlab.emulator.memory import Memory
from convlab.emulator.parse import parse
from convlab.emulator.program import Function
from convlab.emulator.specials import CLOCKS, SPECIALS
from convlab.emulator.translate import WRONG_OPERANDS, translate
from convlab.emulator.translator import SPACES, Translator
from convlab.emulator.types import DTYPES
from convlab.errors import ConvlabError

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "instructions.md"

HEAD = """\
# What the emulator executes

Written by `uv run tools/document_instructions.py`, which translated every form below with every type beside it: edit
the [tables of instructions](../convlab/emulator/instructions/), not this page. A few forms exist here that PTX itself
lacks; no compiler writes them. *Integers* are `b`, `u` and `s` of 8 to 64 bits, *floats* are `f16`, `bf16`, pairs of
these, `f32` and `f64`; `{a,b}` is one of them. [How the machine works](emulator.md) is another page.
"""

KERNEL = """\
.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 q0) g(.param .b32 q1) { ret; }
.extern .func (.param .b32 q0) vprintf(.param .b64 q1, .param .b64 q2);
.visible .entry k(.param .b64 k0) {
.reg .pred p<4>; .reg .b16 h<4>; .reg .b32 r<4>; .reg .b64 l<4>; .param .b32 a0; .param .b32 a1;
table: .branchtargets end;
INSTRUCTIONSend: ret;
}
"""
INTRINSIC = re.compile(r"__\w+(\(.*?\))?")
GROUPS = {"*integers*": INTEGERS, "*floats*": FLOATS}  # what the page calls all of these together
MANY = 10  # opcodes: a handler of more is its module's only one, and its own sentence says nothing new


def accepted(texts: Iterable[str]) -> set[str]:
    """Those instructions that are translated: each by itself, and then all that went through at once."""
    texts = list(dict.fromkeys(texts))
    function = kernel(texts)
    registers = {**function.registers, carries.CARRY.name: "u32"}
    numbers = {name: number for number, name in enumerate(registers)}
    dtypes = [DTYPES[kind] for kind in registers.values()]
    layout = lay_out(function, share(function.module, [function]), True, 0)
    through = []
    for text, instruction in zip(texts, function.instructions[:-1], strict=True):
        handler = HANDLERS.get(instruction.parts[0])
        try:
            if handler is not None and not declined(instruction):
                handler(Translator(function, instruction, numbers, dtypes, layout, [], {}), instruction)
                through.append(text)
        except (ConvlabError, *WRONG_OPERANDS):
            continue
    translate(kernel(through))
    return set(through)


def kernel(texts: Iterable[str]) -> Function:
    """A kernel of these instructions."""
    return parse(KERNEL.replace("INSTRUCTIONS", "".join(f"{text};\n" for text in texts))).entries["k"]


def found() -> dict[str, dict[str, list[str]]]:
    """The types that go through, for each form, for each opcode."""
    candidates = list(tried())
    through = accepted(text for _, _, texts in candidates for text in texts)
    table: dict[str, dict[str, list[str]]] = {}
    for form, kind, texts in candidates:
        kinds = table.setdefault(form.split(".")[0], {}).setdefault(form, [])
        if kind not in kinds and not through.isdisjoint(texts):
            kinds.append(kind)
    return {opcode: {form: kinds for form, kinds in forms.items() if kinds} for opcode, forms in table.items()}


def sentence(thing: object) -> str:
    """The first sentence of a docstring, for Markdown."""
    text = (thing.__doc__ or "").split("\n\n", maxsplit=1)[0]
    return " ".join(text.split()).replace("``", "`")


def code(words: Iterable[str]) -> str:
    """Words as code, side by side."""
    return " ".join(f"`{word}`" for word in words)


def folded(forms: Iterable[str]) -> str:
    """Forms that differ in one part as one, ``ld.{ca,cg}``, again and again."""
    rows = [tuple((part,) for part in form.split(".")) for form in forms]
    merged = True
    while merged:
        merged = False
        for first, second in combinations(rows, 2):
            apart = [at for at, (p, q) in enumerate(zip(first, second, strict=False)) if p != q]
            if len(first) == len(second) and len(apart) == 1:
                at = apart[0]
                rows[rows.index(first)] = (*first[:at], first[at] + second[at], *first[at + 1 :])
                rows.remove(second)
                merged = True
                break
    return code(".".join(p[0] if len(p) == 1 else f"{{{','.join(p)}}}" for p in row) for row in rows)


def summed(kinds: Iterable[str]) -> str:
    """Types, with a word for each group that is complete."""
    left, words = [kind for kind in kinds if kind], []
    for word, group in GROUPS.items():
        if set(group) <= set(left):
            left = [kind for kind in left if kind not in group]
            words.append(word)
    return " ".join(filter(None, (", ".join(words), code(left)))) or "–"


def section(family: ModuleType, table: dict[str, dict[str, list[str]]]) -> list[str]:
    """One module of instructions: its handlers, and the forms that each takes."""
    lines = [f"## {family.__name__.rpartition('.')[2].capitalize()}", "", sentence(family), ""]
    opcodes = [opcode for opcode in HANDLERS if HANDLERS[opcode].__module__ == family.__name__ and "/" not in opcode]
    for handler in dict.fromkeys(HANDLERS[opcode] for opcode in opcodes):
        own = sorted(opcode for opcode in opcodes if HANDLERS[opcode] is handler)
        if len(own) < MANY:  # a handler of more is the module's own, and says nothing new
            lines += [
                sentence(handler) if f"`{own[0]}" in sentence(handler) else f"{code(own)}: {sentence(handler)}",
                "",
            ]
        rows = {opcode: dict[str, list[str]]() for opcode in own}
        for opcode in own:
            for form, kinds in table[opcode].items():
                rows[opcode].setdefault(summed(kinds), []).append(form)
        cells = [(folded(forms), kinds) for row in rows.values() for kinds, forms in row.items()]
        lines += ["| forms | types |", "|---|---|", *(f"| {forms} | {kinds} |" for forms, kinds in cells), ""]
    return lines


def names() -> list[str]:
    """Special registers, functions of CUDA, memory spaces."""
    memory = Memory([], b"", translate(kernel([])), 0)
    spaces = {space: type(getattr(memory, where.rpartition(".")[2])) for space, where in SPACES.items()}
    return [
        "## Special registers",
        "",
        sentence(sys.modules["convlab.emulator.specials"]),
        "",
        "| registers | type |",
        "|---|---|",
        *_by_type({name: special.dtype.str[1:] for name, special in SPECIALS.items()} | CLOCKS),
        "",
        "`%clock` and its like count the instructions that the lanes at hand have issued: there is no time here.",
        "",
        "## Functions that CUDA provides",
        "",
        code(control.BUILTINS) + ". All others are part of the PTX that the compiler writes.",
        "",
        "## Memory spaces",
        "",
        "| space | what it is |",
        "|---|---|",
        *(f"| `{space}` | {sentence(kind)} |" for space, kind in spaces.items()),
        "",
    ]


PTX_NAMES = {"i": "s", "u": "u", "b": "pred"}


def _by_type(types: dict[str, str]) -> Iterator[str]:
    """Names by the PTX type that they have."""
    for code_ in dict.fromkeys(types.values()):
        kind = "pred" if code_ in ("?", "b1") else f"{PTX_NAMES[code_[0]]}{8 * int(code_[1])}"
        yield f"| {code(name for name, own in types.items() if own == code_)} | `{kind}` |"


def missing() -> list[str]:
    """What is not executed, and what to use instead."""
    groups: dict[str, list[str]] = {}
    for name, instead in (OPCODES | FUNCTIONS | SPECIAL).items():
        groups.setdefault(INTRINSIC.sub(r"`\g<0>`", instead), []).append(name)
    return [
        "## Not executed",
        "",
        "These end in `UnsupportedInstruction`, before anything runs, with the line of CUDA C. `mma.sp` stands for all",
        "of `mma` with `.sp`; names of functions and registers for all that begin with them.",
        "",
        "| instruction, function or register | instead |",
        "|---|---|",
        *(f"| {code(sorted(names))} | {instead}. |" for instead, names in groups.items()),
        "",
    ]


def page() -> str:
    """The whole page."""
    table = found()
    lines = [HEAD]
    for family in FAMILIES:
        lines += section(family, table)
        if family is arithmetic:
            lines += [f"Each form of floats may also have one of {code(f'.{clamp}' for clamp in floating.CLAMPS)}.", ""]
    return "\n".join([*lines, *names(), *missing()]).rstrip() + "\n"


def main() -> int:
    """Write or compare the page; 1 when --check found it stale."""
    return renew(lambda: {PAGE: page()}, "document_instructions.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
