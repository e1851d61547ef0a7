"""PTX with mistakes in it: pieces cut, swapped, copied, replaced by pieces of other programs or by odd ones."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from convlab.errors import ConvlabError
from convlab.executors.launch import launch
from convlab.executors.module import Kernel, load_ptx

__all__ = ["mutant", "try_out"]

PIECE = re.compile(r"\s+|[%.$\w]+|.", re.DOTALL)
ODD = [
    "-1",
    "0",
    "0f7FFFFFFF",
    "0xFFFFFFFFFFFFFFFF",
    "4294967295",
    "9" * 30,
    "16777216",
    "1e999",
    "-0.0",
    "%r1",
    "%rd5",
]
ODD += ["%p2", "%f3", "[%rd1]", "[%r2+4]", "{", "}", "(", ")", "[", "]", ";", ",", ":", "@%p1", "@!%p1", "|", "_", "!"]
ODD += [
    ".reg",
    ".param",
    ".local",
    ".shared",
    ".global",
    ".align",
    ".b8",
    ".pred",
    ".v4",
    ".loc",
    ".func",
    ".entry",
    "ret",
]
ODD += [
    "bra",
    "call",
    "exit",
    "trap",
    "bar.sync",
    "%tid.x",
    "%laneid",
    "%clock64",
    "WARP_SZ",
    "$L__BB0_2",
    '"x',
    "",
    "\0",
]


def mutant(text: str, others: Sequence[str], rng: random.Random) -> str:
    """The text with one to four mistakes; ``others`` are texts to take pieces from."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        text = rng.choice(MISTAKES)(text, rng.choice(others), rng)
    return text


def _cut(text: str, other: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _pieces(text: str, other: str, rng: random.Random) -> str:
    """A piece replaced, removed, doubled, swapped with another or put in."""
    pieces = PIECE.findall(text) or [""]
    strange = PIECE.findall(other) or [""]
    at, to = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    new = rng.choice(ODD) if rng.random() < 0.4 else rng.choice(strange)
    match rng.randrange(5):
        case 0:
            pieces[at] = new
        case 1:
            pieces[at] = ""
        case 2:
            pieces[at] += pieces[at]
        case 3:
            pieces[at], pieces[to] = pieces[to], pieces[at]
        case 4:
            pieces[at] += f" {new} "
    return "".join(pieces)


def _lines(text: str, other: str, rng: random.Random) -> str:
    """A line removed, moved, or replaced by one of another program."""
    lines, strange = text.split("\n"), other.split("\n")
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines[at], lines[to] = lines[to], lines[at]
        case 2:
            lines[at] = rng.choice(strange)
        case 3:
            lines.insert(at, lines[to])
    return "\n".join(lines)


def _like(pattern: str) -> Any:
    """A mistake: one match of a pattern replaced by one in another program, mostly what stands there is PTX still."""

    def replace(text: str, other: str, rng: random.Random) -> str:
        own, strange = list(re.finditer(pattern, text)), re.findall(pattern, other)
        if not own or not strange:
            return text
        match = rng.choice(own)
        return text[: match.start()] + rng.choice(strange) + text[match.end() :]

    return replace


def _number(text: str, other: str, rng: random.Random) -> str:
    """A number replaced by one at the edge of a type, or beyond."""
    own = list(re.finditer(r"(?<![\w%$.])\d\w*", text))
    if not own:
        return text
    match = rng.choice(own)
    edge = rng.choice(
        (0, 1, 7, 8, 31, 32, 33, 63, 64, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
    )
    return text[: match.start()] + str(rng.choice((-1, 1)) * edge) + text[match.end() :]


MISTAKES = [_cut, _pieces, _pieces, _pieces, _lines, _lines, _number, _number]
MISTAKES += [_like(r"(?<=\t)[a-z]\w*(?:\.[\w:]+)*(?=[ \t;])")] * 3  # an opcode
MISTAKES += [_like(r"(?<=\.)[busfp]\w*\d+(?:x2)?\b")] * 2  # a type
MISTAKES += [_like(r"%[a-z]+\d+\b")] * 2  # a register
MISTAKES += [_like(r"\$L\w+"), _like(r"\[[^\]]*\]"), _like(r"(?<=[,\t])[^,;\n]*(?=;)")]


def try_out(text: str, rng: random.Random, budget: int = 4000) -> bool:
    """Load PTX and run its first two kernels on whatever fits; false when one of our errors comes of it."""
    try:
        for kernel in list(load_ptx(text).kernels.values())[:2]:
            arguments = [_argument(kernel, n, rng) for n in range(len(kernel.parameters))]
            options: dict[str, Any] = {"device": "emulator", "budget": budget, "faults": "record"}
            launch(kernel, (2, 1, 1), rng.choice((1, 33, 64)), arguments, shared=rng.choice((0, 512)), **options)
    except ConvlabError:
        return False
    return True


def _argument(kernel: Kernel, n: int, rng: random.Random) -> Any:
    parameter = kernel.parameters[n]
    match parameter.kind:
        case "address" | "pointer":
            return rng.choice((np.zeros(512, "f4"), np.full(512, 3, "i4"), np.ones(2048, "u1"), None))
        case "float" | "bfloat16":
            return rng.choice((0.0, 1.5, -3.0))
        case "bool":
            return True
        case "struct":
            return np.zeros((), np.dtype([("bytes", "u1", parameter.size)]))[()]
    return rng.choice((0, 1, 5, 64))
