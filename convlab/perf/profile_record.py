"""What is known of one method on one spec: counters, bytes at each level, occupancy, time, and what it waits for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

from convlab.emulator import Counters
from convlab.emulator.observers.requests import SECTOR
from convlab.executors.compiler import why_not
from convlab.executors.resources import Resources
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import recognise
from convlab.perf.model import ASSUMED_REGISTERS, LEFT, Prediction
from convlab.perf.occupancy import Occupancy
from convlab.perf.points import LEVELS, Point
from convlab.perf.roofline import Roofline, roofline
from convlab.perf.times import Time
from convlab.perf.work import Work

__all__ = ["Profile", "short", "speed"]


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """One method on one spec; a notebook shows it as tables.

    Parameters: ``gpu`` is the one that occupancy, bytes of DRAM and shares of a peak are about; ``time`` says its kind
    itself; ``work`` and ``prediction`` are None where there are no kernels of ours to count, as of a reference method
    or a peer; ``dtype`` is the arithmetic whose peak holds: that of the Tensor Cores where they multiply.
    """

    spec: Any
    method: str
    gpu: Gpu
    time: Time
    work: Work | None = None
    prediction: Prediction | None = None
    dtype: str = "float32"

    @property
    def counters(self) -> Counters:
        """The counters of all launches, added up."""
        if self.work is None:
            return Counters({}, f"{self.method!r} has no kernel of ours to count.")
        return self.work.counters

    @property
    def arrays(self) -> dict[str, Counters]:
        """What was counted of global memory, for each array by its parameter's name, of all launches together."""
        found: dict[str, Counters] = {}
        for launch in self.work or ():
            for name, counts in launch.arrays.items():
                found[name] = found.get(name, Counters({})) + counts
        return found

    @property
    def traffic(self) -> dict[str, int]:
        """Bytes at each level of `convlab.perf.points.LEVELS` that is known."""
        if self.work is None or self.prediction is None:
            return {}
        counts = self.work.counters
        sectors = sum(counts[f"sectors_{space}_{way}"] for space in ("global", "local") for way in ("load", "store"))
        return {
            "compulsory": sum(self.work.compulsory.values()),
            "dram": sum(launch.dram_bytes for launch in self.prediction.launches),
            "l2": sum(launch.l2_bytes for launch in self.prediction.launches),
            "l1": SECTOR * sectors,
        }

    @property
    def flop(self) -> int:
        """The work of the definition, 0 where it has no arithmetic."""
        return getattr(self.spec, "flops", 0)

    @property
    def executed_flop(self) -> int:
        """What the kernels compute, Tensor Cores included."""
        return self.counters.flop + self.counters.tensor_flop

    @property
    def intensity(self) -> dict[str, float]:
        """FLOP of the definition for each byte of a level."""
        return {level: self.flop / count for level, count in self.traffic.items() if count}

    @property
    def gflops(self) -> float:
        """GFLOP/s of the definition's work."""
        return self.flop / self.time.milliseconds / 1e6

    @property
    def peak_share(self) -> float | None:
        """GFLOP/s as a part of the GPU's peak; None for a time of something else, and for a type without a peak."""
        known = recognise(self.time.on) == self.gpu and self.dtype in self.gpu.dtypes
        return self.gflops / self.gpu.peak_tflops(self.dtype) / 1e3 if known else None

    @property
    def resources(self) -> dict[str, Resources]:
        """Registers, shared memory and spills of each kernel on the GPU's architecture; none without an assembler."""
        return {} if why_not() else {launch.entry: launch.resources[self.gpu.arch] for launch in self.work or ()}

    @property
    def occupancy(self) -> dict[str, Occupancy]:
        """What an SM of the GPU holds of each kernel at a time."""
        return {launch.entry: launch.resident for launch in (self.prediction.launches if self.prediction else ())}

    @property
    def waits_for(self) -> str:
        """What the longest launch waits for by the model, in words."""
        return self.prediction.waits_for if self.prediction else ""

    def point(self, level: str = "dram") -> Point:
        """The method as a point of a roofline; raises ``ValueError`` where its bytes at the level are not known."""
        if level not in self.traffic:
            known = ", ".join(self.traffic) or "none"
            raise ValueError(f"The bytes of {self.method!r} at level {level!r} are not known. Known levels: {known}.")
        return Point(
            name=self.method,
            dtype=self.dtype,
            flop=self.flop,
            executed_flop=self.executed_flop,
            compulsory=self.traffic["compulsory"],
            executed=self.traffic[level],
            level=level,
            time=self.time,
        )

    def plot(self, level: str = "dram") -> Roofline:
        """Draw the method under the GPU's roof; raises ``ValueError`` where ``point`` or the roofline does."""
        return roofline([self.point(level)], self.gpu.name, level=level, title=str(self.spec))

    def _rows(self) -> dict[str, str]:
        """What there is to say, line by line."""
        fast = f"{speed(self.gflops)} GFLOP/s" if self.flop else "no arithmetic"
        share = f", {100 * self.peak_share:.3g} % of the {self.dtype} peak" if self.flop and self.peak_share else ""
        lines = {"time": str(replace(self.time, note="")), "speed": fast + share}
        if self.work is None:
            return {**lines, "timed": self.time.note, "counters": "none: no kernel of ours"}
        counts = self.counters
        known = {level: LEVELS[level] for level in self.traffic}
        lines |= {
            "FLOP": f"{short(self.executed_flop)} executed, {short(self.flop)} by the definition",
            **{f"bytes {level.of}": self._bytes(name) for name, level in known.items()},
            "sectors a request": f"loads {counts.sectors_per_request_load:.3g}, "
            f"stores {counts.sectors_per_request_store:.3g}",
            "bank conflicts": f"{counts.conflicts_shared_load + counts.conflicts_shared_store:,}",
            **{f"occupancy of {entry}": self._held(entry) for entry in self.occupancy},
            "waits for": f"{self.waits_for}, by the model",
        }
        return lines | ({"counted on": "some blocks, scaled to all"} if self.work.sampled else {})

    def _bytes(self, level: str) -> str:
        return f"{short(self.traffic[level], 'B')}, {self.intensity.get(level, 0):.3g} FLOP per byte"

    def _held(self, entry: str) -> str:
        held, needs = self.occupancy[entry], self.resources.get(entry)
        registers = f"{needs.registers} registers" if needs else f"assuming {ASSUMED_REGISTERS} registers"
        spills = f", {needs.spill_stores + needs.spill_loads} bytes spilled" if needs and needs.spill_stores else ""
        where = f"on the {self.gpu.name}, limited by {held.limited_by}"
        return f"{held.warps} of {held.of} warps {where}; {registers}{spills}"

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(map(len, rows)) + 2
        lines = [f"{self.method} on {self.spec}", *(f"  {name:{width}}{text}" for name, text in rows.items())]
        for name, counts in self.arrays.items():
            loads, stores = counts.sectors_global_load, counts.sectors_global_store
            lines.append(f"  {f'sectors of {name}':{width}}loads {short(loads)}, stores {short(stores)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th {LEFT}>{k}</th><td {LEFT}>{escape(v)}</td></tr>" for k, v in self._rows().items())
        table = f"<p><b>{escape(f'{self.method} on {self.spec}')}</b></p><table>{rows}</table>"
        return table + self._arrays() + (self.prediction._repr_html_() if self.prediction else "")

    def _arrays(self) -> str:
        """Global memory by array, as a table."""
        heads = "".join(f"<th>{head}</th>" for head in ("array", *ARRAY_COLUMNS))
        rows = "".join(
            f"<tr><td {LEFT}>{escape(name)}</td>"
            + "".join(f"<td>{counts[key]:,}</td>" for key in ARRAY_COLUMNS.values())
            + "</tr>"
            for name, counts in self.arrays.items()
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""


ARRAY_COLUMNS = {
    f"{way}s: {count}": f"{count}_global_{way}" for way in ("load", "store") for count in ("requests", "sectors")
}


def speed(gflops: float) -> str:
    """A speed without powers of ten.

    >>> speed(0.012345), speed(7764.7)
    ('0.0123', '7,765')
    """
    return f"{gflops:,.0f}" if gflops >= 100 else f"{gflops:.3g}"


def short(count: float, unit: str = "") -> str:
    """A number of three digits, in thousands, millions …

    >>> short(4_718_592), short(96, "B"), short(1_234, "B"), short(7.4e12)
    ('4.72 M', '96 B', '1.23 kB', '7.4 T')
    """
    for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if count >= 0.9995 * 10**power:
            return f"{count / 10**power:.3g} {prefix}{unit}"
    return f"{count:.3g} {unit}".rstrip()
