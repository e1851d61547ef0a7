"""What ``convlab run`` prints of a launch: text for a person, or one JSON document for a program."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator import Fault
from convlab.emulator.faults import meanings
from convlab.emulator.numerics.halves import from_bf16
from convlab.executors.columns import COLUMNS, columns
from convlab.executors.module import Kernel
from convlab.executors.run import Run
from convlab.executors.signature import Parameter

__all__ = ["Report", "Summary", "as_json", "as_text", "summarise"]

WIDTH = 100
FIRST = 6  # values of an array that are shown
FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Report:
    """A launch and what became of it: the arguments' values, which of them changed, and the files written.

    ``files`` pairs a path with the reason why it could not be written, or ""; ``crash`` is what a GPU said.
    """

    kernel: Kernel
    run: Run
    values: Sequence[Any]
    changed: Sequence[bool]
    files: Sequence[tuple[str, str]] = ()
    crash: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """An array in a few numbers; ``min`` and ``max`` leave NaN out, and are None where nothing else is left."""

    index: int
    name: str
    dtype: str
    shape: tuple[int, ...]
    changed: bool
    min: Any
    max: Any
    nan: int
    first: list[Any]


def summarise(array: NDArray[Any], parameter: Parameter, index: int = 1, changed: bool = True) -> Summary:
    """Summarise one argument.

    >>> from convlab.executors.signature import Source
    >>> y = summarise(np.array([[1.5, np.nan, -2.0]]), Source("").parameter("double* y"))
    >>> y.shape, y.min, y.max, y.nan
    ((1, 3), -2.0, 1.5, 1)
    """
    pointee = parameter.pointee
    dtype = str(array.dtype)
    if array.dtype == np.uint16 and pointee and "bfloat16" in pointee.dtypes:
        dtype, array = "bfloat16", from_bf16(array)
    flat = array.reshape(-1)
    known = flat[~np.isnan(flat)] if flat.dtype.kind == "f" else flat
    ordered = known.size and known.dtype.kind in "iufb"
    low, high = (known.min().item(), known.max().item()) if ordered else (None, None)
    return Summary(
        index, parameter.name, dtype, array.shape, changed, low, high, flat.size - known.size, flat[:FIRST].tolist()
    )


def _summaries(report: Report) -> list[Summary]:
    rows = zip(report.kernel.parameters, report.values, report.changed, strict=True)
    return [
        summarise(value, parameter, at, changed)
        for at, (parameter, value, changed) in enumerate(rows, start=1)
        if isinstance(value, np.ndarray)
    ]


def as_json(report: Report) -> str:
    """One JSON document; numbers that JSON lacks are the texts "nan", "inf" and "-inf"."""
    run, code = report.run, _code(report)
    lines = [
        {"file": file, "line": line, "source": code.get((file, line), ""), "counters": dict(counters)}
        for (file, line), counters in run.lines.items()
    ]
    document = {
        "kernel": run.kernel,
        "signature": report.kernel.signature,
        "file": report.kernel.module.name,
        "device": run.device,
        "grid": run.grid,
        "block": run.block,
        "milliseconds": run.milliseconds,
        "counters": dict(run.counters),
        "caches": asdict(run.traffic) if run.traffic is not None else None,
        "lines": lines,
        "faults": [asdict(fault) for fault in run.faults],
        "crash": report.crash or None,
        "stdout": run.stdout,
        "arrays": [asdict(each) for each in _summaries(report)],
        "files": [{"path": path, "error": error or None} for path, error in report.files],
    }
    return json.dumps(_plain(document), indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """What JSON can say."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | None) else str(value)


def as_text(report: Report) -> str:
    """Sections that are empty are left out."""
    run = report.run
    head = f"{repr(run).partition(chr(10))[0]}\n{report.kernel.signature}"
    sections = {
        "": head,
        "Printed:": run.stdout.rstrip("\n"),
        "Faults:": "\n".join(_faults(report)),
        "Lines:": _lines(run),
        "Counters:": repr(run.counters) if run.counters else "",
        "Caches:": repr(run.traffic) if run.traffic is not None else "",
        "Crash:": report.crash,
        "Arrays that changed:": _arrays(report),
        "Files:": "\n".join(f"could not write {path}: {why}" if why else path for path, why in report.files),
    }
    return "\n\n".join(f"{title}\n{body}".lstrip() for title, body in sections.items() if body)


def _lines(run: Run) -> str:
    """The learner's lines with their counters; of PTX without CUDA C, all places that it names."""
    lines = run.listing() or [(line, file, counters) for (file, line), counters in run.lines.items()]
    if not lines:
        return ""
    shown = columns([counters for _, _, counters in lines])
    heads = ["line", *shown]
    rows = [[str(line), *row] for (line, *_), row in zip(lines, zip(*shown.values(), strict=True), strict=True)]
    table = _aligned([heads, *rows])
    code = ["CUDA C", *(text.expandtabs(4) for _, text, _ in lines)]
    shown_lines = [_cut(f"{left}  {text}".rstrip()) for left, text in zip(table, code, strict=True)]
    legend = [_cut(f"  {name:14}{COLUMNS[name].meaning}") for name in shown]
    return "\n".join([*shown_lines, *_elsewhere(run), *legend])


def _elsewhere(run: Run) -> Iterator[str]:
    """What the table leaves out: instructions in lines of headers."""
    if run.source:
        for file in sorted({file for file, _ in run.lines} - {run.name}):
            total = sum(counters.instructions for (where, _), counters in run.lines.items() if where == file)
            yield f"instructions in lines of {file}: {total:,}"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _code(report: Report) -> dict[tuple[str, int], str]:
    """The lines of the file that was run."""
    module = report.kernel.module
    text = module.source or module.ptx
    return {(module.name, at): line for at, line in enumerate(text.splitlines(), start=1)}


def _faults(report: Report) -> Iterator[str]:
    """Each fault with its lines of code, then what such faults mean."""
    faults, code = report.run.faults[:FAULTS_SHOWN], _code(report)
    for fault in faults:
        yield textwrap.fill(f"{fault.severity}: {fault}", WIDTH, subsequent_indent="  ")
        yield from _quoted(fault, code)
    if rest := len(report.run.faults) - len(faults):
        yield f"… and {rest} more; --json shows all of them."
    for kind, text in meanings(faults):
        yield textwrap.fill(f"{kind.replace('_', ' ')}: {text}", WIDTH, subsequent_indent="  ")


def _quoted(fault: Fault, code: dict[tuple[str, int], str]) -> Iterator[str]:
    """The line of the fault, the other line of a race, the lines that called."""
    places = [(fault.file, fault.line), (fault.file, fault.other_line or 0), *fault.stack]
    for file, line in dict.fromkeys(places):
        if (file, line) in code:
            yield _cut(f"{line:6} | {code[file, line].expandtabs(4)}")


def _arrays(report: Report) -> str:
    """A table of the arrays that changed."""
    changed = [each for each in _summaries(report) if each.changed]
    if not changed:
        return "none" if any(isinstance(value, np.ndarray) for value in report.values) else ""
    rows = [["name", "dtype", "shape", "min", "max", "NaN"]]
    rows += [
        [each.name, each.dtype, "x".join(map(str, each.shape)), _number(each.min), _number(each.max), f"{each.nan:,}"]
        for each in changed
    ]
    first = ["first values", *(", ".join(map(_number, each.first)) for each in changed)]
    return "\n".join(_cut(f"{left}  {text}") for left, text in zip(_aligned(rows), first, strict=True))


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
