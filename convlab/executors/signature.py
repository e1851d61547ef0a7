"""Kernel signatures: names and types of the parameters from the CUDA C, sizes from the PTX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from convlab.emulator.program import Param
from convlab.emulator.types import SIZES
from convlab.executors.cuda_types import TYPES, CType, canonical

__all__ = ["Parameter", "Source", "match", "without_comments"]

_QUALIFIERS = {
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "__grid_constant__",
    "struct",
    "class",
    "enum",
}
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.DOTALL)
_NO_CODE = re.compile(r'^[ \t]*#[^\n]*|"(?:\\.|[^"\\\n])*"', re.MULTILINE)  # directives and strings
_TOKEN = re.compile(r"[A-Za-z_]\w*(?:\s*::\s*\w+)*|\d\w*|[^\s\w]")
_ALIASES = (
    re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+(?P<type>[^\n]+)$", re.MULTILINE),
    re.compile(r"\btypedef\s+(?P<type>[^;{}()]+?)\b(?P<name>\w+)\s*;"),
    re.compile(r"\busing\s+(?P<name>\w+)\s*=\s*(?P<type>[^;{}]+);"),
)
_STRUCT = re.compile(r"\bstruct\s+(?P<head>(?:\w+\s*\(\w+\)\s*)?[^{};()=]*)\{(?P<body>[^{}]*)\}\s*(?P<alias>\w*)\s*;")
_OPTION = re.compile(r"(?:-D|--define-macro=)(\w+)=(.+)")

# What a parameter's PTX type says when the source says nothing.
_PTX_KINDS = {
    "f16": "float",
    "f32": "float",
    "f64": "float",
    "u64": "address",
    "b64": "address",
    "s64": "address",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel.

    ``kind`` is "int", "uint", "float", "bfloat16", "bool", "struct", "pointer"; or, where only the PTX is
    known, "bits" (an integer of either sign) and "address" (a pointer or a 64-bit integer). ``pointee`` is
    ``None`` where the type behind a pointer is unknown; ``const``: the kernel only reads through the pointer.
    """

    text: str  # as in the source: "const float* x"
    name: str
    kind: str
    size: int
    align: int
    pointee: CType | None = None
    const: bool = False

    def __str__(self) -> str:
        return self.text


def without_comments(source: str) -> str:
    """A source with each comment replaced by the line ends inside it: all lines keep their numbers."""
    return _COMMENT.sub(lambda m: m[1] or " " + "\n" * m[0].count("\n"), source)


class Source:
    """What a CUDA C text says about its kernels, its type names and its structs.

    >>> source = Source("typedef float real; extern \\"C\\" __global__ void scale(real* x, const int n) { }")
    >>> [[p.name, p.kind] for p in source.kernels["scale"][0]]
    [['x', 'pointer'], ['n', 'int']]

    Args:
        text: CUDA C.
        options: compiler options; those that define macros matter.
    """

    def __init__(self, text: str, options: Sequence[str] = ()) -> None:
        text = without_comments(text)
        defined = [(m[1], m[2]) for option in options if (m := _OPTION.fullmatch(option))]
        self.aliases = {match["name"]: match["type"].strip() for rx in _ALIASES for match in rx.finditer(text)}
        self.aliases |= dict(defined)
        self.structs: dict[str, CType] = {}
        for found in _STRUCT.finditer(text):
            layout = self._layout(found["head"], found["body"])
            names = [*re.findall(r"\w+", found["head"])[-1:], found["alias"]]
            self.structs |= {name: layout for name in names if name}
        self.kernels: dict[str, list[list[Parameter]]] = {}
        for name, declarations in _kernels(_NO_CODE.sub("", text)):
            parameters = [self.parameter(part, at) for at, part in enumerate(declarations)]
            self.kernels.setdefault(name, []).append(parameters)

    def parameter(self, text: str, index: int = 0) -> Parameter:
        """Read one declaration, ``const float* __restrict__ x``; an unknown type has size 0 and kind ""."""
        text = " ".join(_cut_default(text).split())
        tokens = self._expand(_TOKEN.findall(text))
        brackets = tokens.index("[") if "[" in tokens else len(tokens)
        array = brackets < len(tokens) and "(" not in tokens  # int (*x)[4] is one pointer, int* x[4] are two
        tokens = tokens[:brackets]
        tokens, templated = _without_template_arguments([t for t in tokens if t not in "()"])
        star = next((at for at, token in enumerate(tokens) if token in "*&"), len(tokens))
        before = [token for token in tokens[:star] if token not in _QUALIFIERS]
        after = [token for token in tokens[star:] if token not in _QUALIFIERS and token not in "*&"]
        words, name = (before, after[-1]) if after else _split_name(before)
        base = canonical([token for token in words if token not in _QUALIFIERS])
        known = None if templated else self.structs.get(base) or TYPES.get(base)
        name = name or f"argument_{index + 1}"
        depth = sum(token in "*&" for token in tokens) + array
        if not depth:
            known = known or CType("", 0, 0)
            return Parameter(text, name, known.kind, known.size, known.align)
        pointee = known if depth == 1 else TYPES["uint64_t"]
        return Parameter(text, name, "pointer", 8, 8, pointee, "const" in tokens[:star])

    def _expand(self, tokens: list[str]) -> list[str]:
        """Replace typedefs and simple macros by what they stand for."""
        for _ in range(8):  # chains are short; a cycle must end
            if not any(token in self.aliases for token in tokens):
                break
            tokens = [part for token in tokens for part in _TOKEN.findall(self.aliases.get(token, token)) if part]
        return tokens

    def _layout(self, head: str, body: str) -> CType:
        """The size of a plain struct by C's rules; 0 for one with methods, nested types or attributes."""
        unknown = CType("struct", 0, 0)
        size, align = 0, 1
        if re.search(r"align|:|[()]", head + body):
            return unknown
        for statement in filter(None, map(str.strip, body.split(";"))):
            first, *others = statement.split(",")
            base = re.sub(r"\w+\s*(\[.*)?$", "", _cut_default(first)).rstrip("* ")
            for member in (first, *(f"{base} {other}" for other in others)):
                element = self.parameter(re.sub(r"\[.*", "", member))
                count = self._count(member)
                if not element.size or count is None:
                    return unknown
                size = -(-size // element.align) * element.align + element.size * count
                align = max(align, element.align)
        return CType("struct", -(-size // align) * align, align)

    def _count(self, member: str) -> int | None:
        """How many elements ``x[2][3]`` has; 1 without brackets, None when a bound is no number."""
        count = 1
        for bound in re.findall(r"\[([^\]]*)\]", member):
            value = self.aliases.get(bound.strip(), bound.strip())
            if not value.isdigit():
                return None
            count *= int(value)
        return count


def match(source: Source | None, name: str, params: Sequence[Param]) -> tuple[Parameter, ...]:
    """The parameters of a kernel: the declaration in the source that fits the PTX, or else the PTX alone.

    Args:
        source: what the CUDA C says, None for PTX without a source.
        name: the kernel's plain name.
        params: the parameters of the PTX entry.
    """
    declared = source.kernels.get(name.rpartition("::")[2], []) if source else []
    for parameters in declared:
        if len(parameters) == len(params) and all(map(_agrees, parameters, params)):
            return tuple(map(_completed, parameters, params))
    return tuple(_from_ptx(param, at) for at, param in enumerate(params))


def _agrees(parameter: Parameter, param: Param) -> bool:
    return parameter.size in (0, param.size)


def _completed(parameter: Parameter, param: Param) -> Parameter:
    kind = parameter.kind or _ptx_kind(param)
    return replace(parameter, kind=kind, size=param.size, align=param.align)


def _from_ptx(param: Param, index: int) -> Parameter:
    array = param.size != SIZES[param.type]
    text = f".b8[{param.size}]" if array else f".{param.type}"
    return Parameter(text, f"argument_{index + 1}", _ptx_kind(param), param.size, param.align)


def _ptx_kind(param: Param) -> str:
    if param.type == "b8" or param.size != SIZES[param.type]:  # an array is passed by its bytes
        return "struct"
    return _PTX_KINDS.get(param.type, "bits")


def _kernels(text: str) -> list[tuple[str, list[str]]]:
    """Each ``__global__`` function's name and the texts of its parameters."""
    found = []
    for start in re.finditer(r"\b__global__\b", text):
        head = re.compile(r"[\s\w]*?(\w+)\s*\(").match(text, start.end())
        # Attributes such as __launch_bounds__(256) stand between __global__ and the name.
        while head and head[1].startswith("__"):
            head = re.compile(r"[\s\w]*?(\w+)\s*\(").match(text, _closing(text, head.end()))
        if head:
            inside = text[head.end() : _closing(text, head.end()) - 1]
            found.append((head[1], [] if inside.strip() in ("", "void") else _split(inside)))
    return found


def _closing(text: str, at: int) -> int:
    """The place behind the bracket that closes the one just before ``at``."""
    depth = 1
    while depth and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def _split(text: str) -> list[str]:
    """Split a parameter list at its outer commas."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _cut_default(text: str) -> str:
    return text.partition("=")[0]


def _without_template_arguments(tokens: list[str]) -> tuple[list[str], bool]:
    """Drop ``<...>``; whether there was one."""
    kept, depth = [], 0
    for token in tokens:
        depth += token == "<"
        if not depth:
            kept.append(token)
        depth -= token == ">"
    return kept, len(kept) < len(tokens)


def _split_name(words: list[str]) -> tuple[list[str], str]:
    """Part a declaration without a star in type and name; a lone type has no name."""
    integers = {"unsigned", "signed", "short", "long", "int", "char"}
    if len(words) < 2 or words[-1] in integers:
        return words, ""
    return words[:-1], words[-1]
