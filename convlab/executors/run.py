"""What a launch did, as plain data: counters, lines, faults, and the time where it was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from convlab.emulator import UNOBSERVED, Counters, Fault
from convlab.emulator.faults import SHOWN, meanings, summary
from convlab.emulator.observers.cache import Traffic
from convlab.emulator.observers.trace import Trace
from convlab.executors.columns import COLUMNS, columns
from convlab.executors.shape import Dim3

__all__ = ["Run"]

LINES_SHOWN = 40
PRINTED_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Run:
    """The record of one launch.

    ``device`` is "emulator" or "cuda"; ``lines`` maps (file, line) to the counters of that line of CUDA C,
    ``arrays`` a parameter's name to those of its array in global memory; ``faults`` is what the sanitizer found;
    ``stdout`` is what the kernel printed. ``milliseconds`` is measured on a GPU, and ``None`` on the emulator, whose
    own speed says nothing about a GPU. ``traces``, one of each warp in question, and ``traffic``, which is modelled,
    are there when asked for.
    """

    kernel: str
    device: str
    grid: Dim3
    block: Dim3
    counters: Counters = field(default_factory=lambda: UNOBSERVED)
    lines: dict[tuple[str, int], Counters] = field(default_factory=dict)
    faults: Sequence[Fault] = ()
    stdout: str = ""
    milliseconds: float | None = None
    arrays: dict[str, Counters] = field(default_factory=dict)
    source: str = ""
    name: str = ""
    traces: tuple[Trace, ...] = ()
    traffic: Traffic | None = None

    @property
    def trace(self) -> Trace | None:
        """The first of the traces, or the only one."""
        return self.traces[0] if self.traces else None

    def _title(self) -> str:
        time = f", {self.milliseconds:.3f} ms measured" if self.milliseconds is not None else ""
        return f"{self.kernel}<<<{self.grid}, {self.block}>>> on {self.device}{time}"

    def _body(self) -> str:
        parts = [repr(self.counters)]
        if self.traffic is not None:
            parts.append(repr(self.traffic))
        if self.stdout:
            parts.append(f"Printed:\n{capped(self.stdout)}")
        return "\n".join(parts)

    def __repr__(self) -> str:
        faults = f"Faults:\n{summary(self.faults)}\n" if self.faults else ""
        return f"{self._title()}\n{faults}{self._body()}"

    def listing(self) -> list[tuple[int, str, Counters]]:
        """The learner's own lines that executed anything: line number, CUDA C, counters."""
        text = dict(enumerate(self.source.splitlines(), start=1))
        own = [(line, counts) for (file, line), counts in self.lines.items() if file == self.name]
        return [(line, text.get(line, ""), counts) for line, counts in own]

    def _repr_html_(self) -> str:
        title = f"<p><b>{escape(self._title())}</b></p>"
        return f"{title}{self._faults()}<pre>{escape(self._body())}</pre>{self._table()}"

    def _faults(self) -> str:
        """What was found, each with its line of CUDA C, and what it means."""
        text = dict(enumerate(self.source.splitlines(), start=1))
        parts = []
        for fault in self.faults[:SHOWN]:
            code = text.get(fault.line, "").strip() if fault.file == self.name else ""
            quoted = f"<br><code>{escape(code)}</code>" if code else ""
            parts.append(
                f"<div style='{FAULT[fault.severity]}'><b>{fault.severity}:</b> {escape(str(fault))}{quoted}</div>"
            )
        if len(self.faults) > SHOWN:
            parts.append(f"<p>… and {len(self.faults) - SHOWN} more.</p>")
        parts += [f"<p>{escape(meaning)}</p>" for _, meaning in meanings(self.faults[:SHOWN])]
        return "".join(parts)

    def _table(self) -> str:
        """The listing as an HTML table, empty when no line was observed."""
        lines = self.listing()
        if not lines:
            return ""
        shown = lines[:LINES_SHOWN]
        cells = columns([counters for _, _, counters in shown])
        titles = {"line": "", **{name: COLUMNS[name].meaning for name in cells}, "CUDA C": ""}
        heads = "".join(f"<th {LEFT} title='{escape(title)}'>{name}</th>" for name, title in titles.items())
        numbers = zip(*cells.values(), strict=True)
        rows = "".join(_row((str(line), *row), text) for (line, text, _), row in zip(shown, numbers, strict=True))
        note = f"<p>… and {len(lines) - LINES_SHOWN} more lines.</p>" if len(lines) > LINES_SHOWN else ""
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"


FAULT = {
    severity: f"border-left:4px solid var(--jp-{colour}-color1,currentColor);padding-left:8px;margin:6px 0"
    for severity, colour in (("error", "error"), ("warning", "warn"))
}
LEFT = "style='text-align:left'"
CODE = "text-align:left;white-space:pre-wrap;font-family:var(--jp-code-font-family,monospace)"


def _row(numbers: Sequence[str], text: str) -> str:
    """A line of CUDA C with what it executed; memory columns stay empty where nothing was accessed."""
    cells = "".join(f"<td>{cell}</td>" for cell in numbers)
    code = text.expandtabs(4).lstrip()
    indent = len(text.expandtabs(4)) - len(code)
    hanging = f"padding-left:{indent + 3}ch;text-indent:-2ch"  # what does not fit goes on below, further in
    return f"<tr>{cells}<td style='{CODE};{hanging}'>{escape(code)}</td></tr>"


def capped(text: str, shown: int = PRINTED_SHOWN) -> str:
    """The first lines of a text, and how many were left out."""
    lines = text.splitlines()
    rest = [f"… and {len(lines) - shown:,} more lines; all of them are in run.stdout."] if len(lines) > shown else []
    return "\n".join(lines[:shown] + rest)
