"""Several methods side by side: a table, and their roofline."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

from convlab.perf.datasheet import Gpu
from convlab.perf.model import LEFT
from convlab.perf.profile_record import Profile, short, speed
from convlab.perf.roofline import Roofline, roofline

__all__ = ["COLUMNS", "Profiles", "Refusal"]

NONE = "–"
WIDTH = 118  # letters of a line of text


@dataclass(frozen=True, slots=True)
class Refusal:
    """A method that cannot be profiled, and the reason why not, as a sentence."""

    method: str
    reason: str


def _peak(profile: Profile) -> str:
    share = profile.peak_share if profile.flop else None
    return NONE if share is None else f"{100 * share:.3g} ({profile.dtype})"


def _at(level: str) -> Callable[[Profile], str]:
    return lambda profile: short(profile.traffic[level], "B") if profile.traffic else NONE


def _counted(text: Callable[[Profile], str]) -> Callable[[Profile], str]:
    """A column of what is counted, empty where there is nothing to count."""
    return lambda profile: text(profile) if profile.work else NONE


def _requests(profile: Profile) -> str:
    counts = profile.counters
    return f"{counts.sectors_per_request_load:.3g} load, {counts.sectors_per_request_store:.3g} store"


def _conflicts(profile: Profile) -> str:
    return short(profile.counters.conflicts_shared_load + profile.counters.conflicts_shared_store)


SPEED: Mapping[str, Callable[[Profile], str]] = {
    "time": lambda profile: f"{profile.time.milliseconds:.4g} ms, {profile.time.kind}",
    "GFLOP/s": lambda profile: speed(profile.gflops) if profile.flop else NONE,
    "% of peak": _peak,
    "waits for, modelled": lambda profile: re.split(r": | \(", profile.waits_for)[0] or NONE,
    "FLOP": _counted(lambda profile: short(profile.executed_flop)),
}
MEMORY: Mapping[str, Callable[[Profile], str]] = {
    "compulsory": _at("compulsory"),
    "DRAM, modelled": _at("dram"),
    "L2, modelled": _at("l2"),
    "L1, counted": _at("l1"),
    "sectors a request": _counted(_requests),
    "bank conflicts": _counted(_conflicts),
}
COLUMNS = {**SPEED, **MEMORY}  # two tables: side by side they fit no page


class Profiles(Sequence[Profile | Refusal]):
    """Methods on one spec, in the order in which they were asked for; a notebook shows table and roofline together."""

    def __init__(self, spec: Any, gpu: Gpu, profiles: Sequence[Profile | Refusal]) -> None:
        self.spec, self.gpu = spec, gpu
        self._all = tuple(profiles)

    def __getitem__(self, index: Any) -> Any:
        return Profiles(self.spec, self.gpu, self._all[index]) if isinstance(index, slice) else self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Profile | Refusal]:
        return iter(self._all)

    def plot(self, level: str = "dram") -> Roofline:
        """Draw the roofline of all methods that have counters and arithmetic.

        Parameters: ``level`` is one of `convlab.perf.points.LEVELS`. Raises ``ValueError`` where there is no such
        method, and as `convlab.perf.roofline.roofline` does.
        """
        drawn = [each for each in self if isinstance(each, Profile) and each.traffic and each.flop]
        if not drawn:
            raise ValueError("None of these methods has both counters and arithmetic, so there is nothing to draw.")
        return roofline([each.point(level) for each in drawn], drawn[0].gpu.name, level=level, title=str(self.spec))

    def _title(self) -> str:
        return f"{self.spec}, for the {self.gpu.name}"

    def __repr__(self) -> str:
        notes = [line for note in self._notes() for line in wrap(note, WIDTH, subsequent_indent="  ")]
        return "\n".join([self._title(), *self._table(SPEED), "", *self._table(MEMORY), "", *notes]).rstrip()

    def _table(self, columns: Mapping[str, Callable[[Profile], str]]) -> list[str]:
        rows = self._rows(columns)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]

    def _rows(self, columns: Mapping[str, Callable[[Profile], str]]) -> list[list[str]]:
        """The head of a table, and what it says of each method."""
        found = [each for each in self if isinstance(each, Profile)]
        return [["method", *columns], *([each.method, *(text(each) for text in columns.values())] for each in found)]

    def _notes(self) -> list[str]:
        """Sentences on what was refused, where the times are from, and what was not counted in full, if anything."""
        found = [each for each in self if isinstance(each, Profile)]
        notes: dict[str, list[str]] = {}
        for each in found:
            notes.setdefault(each.time.source, []).append(each.method)
        sampled = [each.method for each in found if each.work and each.work.sampled]
        notes |= {"counted on some blocks, scaled to all": sampled} if sampled else {}
        refused = [f"{each.method}: {each.reason}" for each in self if isinstance(each, Refusal)]
        return [*refused, *(f"{what[0].upper()}{what[1:]}: {', '.join(names)}." for what, names in notes.items())]

    def _repr_html_(self) -> str:
        tables = self._html(SPEED) + self._html(MEMORY)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return f"<p><b>{escape(self._title())}</b></p>{tables}{notes}{self._picture()}"

    def _html(self, columns: Mapping[str, Callable[[Profile], str]]) -> str:
        head, *rows = self._rows(columns)
        heads = "".join(f"<th {LEFT}>{escape(name)}</th>" for name in head)
        lines = ("".join(f"<td {LEFT}>{escape(text)}</td>" for text in row) for row in rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _picture(self) -> str:
        """The roofline, or why there is none."""
        try:
            return self.plot()._repr_html_()
        except ValueError as error:
            return f"<p>{escape(str(error))}</p>"
