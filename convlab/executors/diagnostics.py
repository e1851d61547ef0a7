"""NVRTC's log as one error for a reader: the first mistake, its line with a caret, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from unicodedata import east_asian_width

from convlab.errors import CompileError
from convlab.executors.headers import find, folders

__all__ = ["compile_error"]

_HEAD = re.compile(
    r"^(?:(?P<file>.+)\((?P<line>\d+)\)|At end of source): (?:catastrophic )?error(?: #[\w-]+)?: (?P<text>.+)$"
)
_NOTE = re.compile(r"^.+\((?P<line>\d+)\): (?:note|warning|remark)\b")
_OPENED = re.compile(r'^(?P<file>.+)\((?P<line>\d+)\): note #[\w-]+: to match this "')


@dataclass(frozen=True)
class Mistake:
    """One error of the log; ``line`` is 0 and ``column`` is 0 where the log does not say."""

    text: str
    file: str
    line: int
    column: int
    context: tuple[str, ...] = ()


def compile_error(log: str, source: str, name: str) -> CompileError:
    """The error to raise for a failed compilation.

    >>> log = 'mine.cu(1): error: identifier "treadIdx" is undefined\\n  int i = treadIdx.x;\\n          ^'
    >>> print(compile_error(log, "int i = treadIdx.x;", "mine.cu"))
    mine.cu:1:9: identifier "treadIdx" is undefined
      1 | int i = treadIdx.x;
        |         ^
      Fix: did you mean threadIdx?

    Args:
        log: what NVRTC wrote.
        source: the CUDA C that was compiled.
        name: its name in the log.
    """
    mistakes = _mistakes(log)
    if not mistakes:
        said = re.sub(r"^nvrtc: error: ", "", log.strip() or "NVRTC gave no reason")
        return CompileError(f"{name} does not compile: {said}", name=name)
    first = _telling(mistakes)
    own = first.file == name
    parts = [f"{first.file or name}{_place(first)}: {first.text}"]
    if own and (excerpt := _excerpt(source, first)):
        parts.append(excerpt)
    parts += first.context
    if len(mistakes) > 1:
        parts.append(_folded([mistake for mistake in mistakes if mistake is not first]))
    if fix := _fix(first, source):
        parts.append(f"  Fix: {fix}")
    return CompileError("\n".join(parts), name=first.file or name, line=first.line or None)


def _telling(mistakes: list[Mistake]) -> Mistake:
    """The first mistake; but an unknown type in a kernel's parameters is named after several others it causes."""
    first = mistakes[0]
    if not first.text.startswith('attribute "__global__" does not apply'):
        return first
    return next((mistake for mistake in mistakes if mistake.text.endswith("is undefined")), first)


def _place(mistake: Mistake) -> str:
    return "".join(f":{number}" for number in (mistake.line, mistake.column) if number)


def _folded(others: list[Mistake]) -> str:
    lines = sorted({mistake.line for mistake in others if mistake.line})
    where = f", in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:5]))}{' …' * (len(lines) > 5)}"
    return f"{len(others)} more error{'s' * (len(others) > 1)}{where if lines else ''}."


def _mistakes(log: str) -> list[Mistake]:
    """Every error in the log, in NVRTC's order."""
    lines = log.splitlines()
    heads = [at for at, line in enumerate(lines) if _HEAD.match(line)]
    return [_mistake(lines[start:end]) for start, end in zip(heads, [*heads, len(lines)][1:], strict=True)]


def _mistake(lines: list[str]) -> Mistake:
    """One error with what follows it, up to an empty line: context, the source line, the caret, notes."""
    end = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    note = next((at for at, line in enumerate(lines[:end]) if _NOTE.match(line)), end)
    head, opened = _HEAD.match(lines[0]), _OPENED.match(lines[note]) if note < end else None
    assert head is not None
    text = head["text"].partition(". Consider using ")[0]  # what follows are options for programs that call NVRTC
    if head["file"] is None and opened is not None:
        # A brace that is never closed: the place of interest is where it opens.
        return Mistake(text, opened["file"], int(opened["line"]), _column(lines[note:end]))
    shown = [at for at, line in enumerate(lines[:note]) if line.strip() == "^"]
    context = lines[1 : shown[0] - 1] if shown else lines[1:note]
    indented = tuple(f"  {line.strip()}" for line in context)
    return Mistake(text, head["file"] or "", int(head["line"] or 0), _column(lines[:note]), indented)


def _column(lines: list[str]) -> int:
    """The column, from 1, that a caret below a source line points to; 0 without one."""
    for above, line in pairwise(lines):
        if line.strip() == "^":
            before = above.encode()[: line.index("^")].decode(errors="ignore")  # NVRTC counts bytes
            return len(before) - 1  # it indents both by 2
    return 0


def _excerpt(source: str, mistake: Mistake) -> str:
    """The source line with a caret below it."""
    lines = source.splitlines()
    if not 1 <= mistake.line <= len(lines):
        return ""
    text, number = lines[mistake.line - 1].expandtabs(4), str(mistake.line)
    excerpt = f"  {number} | {text}"
    if not mistake.column:
        return excerpt
    before = lines[mistake.line - 1][: mistake.column - 1].expandtabs(4)
    width = sum(2 if east_asian_width(character) in "WF" else 1 for character in before)
    return f"{excerpt}\n  {' ' * len(number)} | {' ' * width}^"


def _fix(mistake: Mistake, source: str) -> str:
    for pattern, fix in _FIXES:
        if found := re.search(pattern, mistake.text):
            return fix(found, mistake, source)
    return ""


Fix = Callable[[re.Match[str], Mistake, str], str]


def _say(text: str) -> Fix:
    return lambda found, mistake, source: text


def _semicolon(_: re.Match[str], mistake: Mistake, source: str) -> str:
    """NVRTC marks what comes after the missing semicolon: often the next line."""
    lines = source.splitlines()[: max(mistake.line, 1)]
    if lines and lines[-1][: max(mistake.column - 1, 0)].strip():
        return "put a semicolon before the marked place."
    earlier = [at for at, line in enumerate(lines[:-1], start=1) if line.partition("//")[0].strip()]
    return f"put a semicolon at the end of line {earlier[-1]}." if earlier else "put in the semicolon."


_HOST = {"iostream", "vector", "string", "fstream", "sstream", "random", "chrono", "thread", "time.h", "sys/time.h"}
_INTEGERS = "#include <cuda/std/cstdint> and write cuda::std::uint32_t; or write unsigned int."


def _header(found: re.Match[str], _: Mistake, __: str) -> str:
    """NVRTC has no headers of the host's C and C++."""
    header = found[1]
    if header in ("stdint.h", "cstdint"):
        return f"there is no host compiler here, hence no <{header}>: {_INTEGERS}"
    if header in _HOST:
        return (
            f"remove the line, and what needs it: <{header}> is for host code, and only device code is compiled here."
        )
    twin = f"cuda/std/{header.removesuffix('.h')}"
    if find(twin, None, folders()):
        return f"#include <{twin}>: the namespace is cuda::std instead of std."
    return "headers come from the CUDA toolkit and from the course; paste the text of any other into the source."


_HEADER_OF = {
    r"(__)?half2?|__\w+2half\w*|h2?(sqrt|exp|log)|__h\w+": "cuda_fp16.h",
    r"(__)?nv_bfloat16\d*|__\w+2bfloat16\w*": "cuda_bf16.h",
    r"nvcuda|wmma": "mma.h",
    r"cooperative_groups|cg": "cooperative_groups.h",
    r"__pipeline_\w+": "cuda_pipeline.h",
}
_WORDS = """threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __shfl_sync __shfl_down_sync
    __shfl_xor_sync __ballot_sync atomicAdd atomicMax atomicCAS printf fmaf fmaxf fminf expf logf sqrtf float float2
    float4 unsigned double const __shared__ __global__ __device__ __constant__ __restrict__"""


def _identifier(found: re.Match[str], _: Mistake, source: str) -> str:
    """An unknown name: of a header that is not included, or a misspelling of a known one."""
    unknown = found[1]
    if re.fullmatch(r"u?int\d+_t", unknown):
        return _INTEGERS
    for pattern, header in _HEADER_OF.items():
        if re.fullmatch(pattern, unknown) and header not in source:
            return f"#include <{header}>."
    names = {*_WORDS.split(), *re.findall(r"[A-Za-z_]\w+", source)} - {unknown}
    near = get_close_matches(unknown, sorted(names), n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else ""


def _token(_: re.Match[str], mistake: Mistake, source: str) -> str:
    """A character that C does not know, such as the full-width ； of a Chinese keyboard."""
    line = source.splitlines()[mistake.line - 1 : mistake.line]
    strange = next((character for character in (line or [""])[0][mistake.column - 1 :] if ord(character) > 127), "")
    if not strange:
        return ""
    return f"{strange!r} is no character of C: write names and punctuation with ASCII characters."


def _host_function(_: re.Match[str], mistake: Mistake, source: str) -> str:
    """A function without a mark: of the host, if it is main, or one that a kernel wants to call."""
    if re.search(r"\bmain\s*\(", source.splitlines()[mistake.line - 1] if mistake.line else ""):
        return (
            "delete main and other host code: only kernels are compiled here, and cl.launch or convlab run starts them."
        )
    return "write __device__ before the function, or __global__ for a kernel."


_FIXES: tuple[tuple[str, Fix], ...] = (
    (r'^expected a ";"', _semicolon),
    (r"user-defined literal operator", _say("in C a product needs its sign: write 2 * a instead of 2a.")),
    (r'could not open source file "([^"]+)"', _header),
    (r'identifier "(\w+)" is undefined', _identifier),
    (r'name "(\w+)" is not|"(\w+)" must be a', _identifier),
    (r"unrecognized token", _token),
    (r'^expected a "}"', _say("close the brace that opens here.")),
    (r'namespace "std" has no member', _say("use the plain function, such as max, or cuda::std.")),
    (r"host variables are not allowed", _say("write __device__ or __constant__ before the variable.")),
    (r"host functions are not allowed", _host_function),
    (r"must be a modifiable lvalue", _say("what is const cannot be written to; is const meant here?")),
)
