"""Several methods side by side: a table, and their roofline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from convlab.perf.datasheet import Gpu
from convlab.perf.model import LEFT
from convlab.perf.profile_record import Profile, short, speed
from convlab.perf.roofline import Roofline, roofline

__all__ = ["COLUMNS", "Profiles", "Refusal"]

NONE = "–"
WIDE = f"{LEFT[:-1]};min-width:9em'"  # of cells that hold sentences, which a narrow column breaks word by word


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
    return f"{counts.sectors_per_request_load:.3g}, {counts.sectors_per_request_store:.3g}"


def _conflicts(profile: Profile) -> str:
    return short(profile.counters.conflicts_shared_load + profile.counters.conflicts_shared_store)


COLUMNS: Mapping[str, Callable[[Profile], str]] = {
    "time": lambda profile: str(replace(profile.time, low=None, high=None, note="")),
    "GFLOP/s": lambda profile: speed(profile.gflops) if profile.flop else NONE,
    "% of peak": _peak,
    "FLOP": _counted(lambda profile: short(profile.executed_flop)),
    "bytes, compulsory": _at("compulsory"),
    "DRAM, modelled": _at("dram"),
    "L2, modelled": _at("l2"),
    "L1, counted": _at("l1"),
    "sectors a request (load, store)": _counted(_requests),
    "bank conflicts": _counted(_conflicts),
    "waits for, modelled": lambda profile: profile.waits_for or NONE,
}
STYLES = {name: WIDE if name in ("time", "waits for, modelled") else LEFT for name in COLUMNS}


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

    def _rows(self) -> list[list[str]]:
        return [[each.method, *(text(each) for text in COLUMNS.values())] for each in self if isinstance(each, Profile)]

    def __repr__(self) -> str:
        lines = [["method", *COLUMNS], *self._rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        refused = [f"{each.method}: {each.reason}" for each in self if isinstance(each, Refusal)]
        table = [
            "  ".join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join([self._title(), *table, *refused, *self._sampled()])

    def _sampled(self) -> list[str]:
        """A sentence on what was not counted in full, if anything."""
        names = [each.method for each in self if isinstance(each, Profile) and each.work and each.work.sampled]
        return [f"Counted on some blocks, scaled to all: {', '.join(names)}."] if names else []

    def _repr_html_(self) -> str:
        heads = "".join(f"<th {LEFT}>{escape(name)}</th>" for name in ("method", *COLUMNS))
        rows = "".join(self._row(each) for each in self)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._sampled())
        return f"<p><b>{escape(self._title())}</b></p>{table}{notes}{self._picture()}"

    def _row(self, each: Profile | Refusal) -> str:
        if isinstance(each, Refusal):
            reason = f"<td {LEFT} colspan='{len(COLUMNS)}'>{escape(each.reason)}</td>"
            return f"<tr><td {LEFT}>{escape(each.method)}</td>{reason}</tr>"
        cells = (f"<td {STYLES[name]}>{escape(text(each))}</td>" for name, text in COLUMNS.items())
        return f"<tr><td {LEFT}>{escape(each.method)}</td>{''.join(cells)}</tr>"

    def _picture(self) -> str:
        """The roofline, or why there is none."""
        try:
            return self.plot()._repr_html_()
        except ValueError as error:
            return f"<p>{escape(str(error))}</p>"
