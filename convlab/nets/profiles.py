"""The profile of a network: a row for each layer, totals, and ways to show and keep them."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from convlab.nets.figure import draw
from convlab.nets.network import Network
from convlab.nets.row import FIELDS, LayerProfile
from convlab.perf.datasheet import Gpu
from convlab.perf.model import LEFT
from convlab.perf.picture import Picture
from convlab.perf.profile_record import short
from convlab.perf.profile_table import NONE, WIDTH

__all__ = ["NetworkProfile"]


def _took(row: LayerProfile) -> str:
    return f"{row.time.milliseconds:.4g}" if row.time else NONE


COLUMNS: Mapping[str, Callable[[LayerProfile], str]] = {
    "layer": lambda row: row.layer.name,
    "parameters": lambda row: short(row.layer.parameters) if row.layer.parameters else NONE,
    "MACs": lambda row: short(row.layer.macs) if row.layer.macs else NONE,
    "output": lambda row: short(row.activation, "B"),
    "live": lambda row: short(row.live, "B"),
    "im2col": lambda row: short(row.live_im2col, "B"),
    "FLOP/byte": lambda row: f"{row.intensity:.3g}" if row.layer.macs else NONE,
    "bound": lambda row: row.bound or NONE,
    "waits for": lambda row: re.split(r": | \(", row.waits_for)[0] or NONE,
    "method": lambda row: row.method or NONE,
    "ms": _took,
}


class NetworkProfile(Sequence[LayerProfile]):
    """Layers in the order in which they run; a notebook shows table, notes and bars together.

    Parameters: ``gpu`` is whose ridge says what bounds a layer; ``dtype`` the type of the activations.
    """

    def __init__(self, network: Network, gpu: Gpu, dtype: str, rows: Sequence[LayerProfile]) -> None:
        self.network, self.gpu, self.dtype = network, gpu, dtype
        self._rows = tuple(rows)

    def __getitem__(self, index: Any) -> Any:
        """A row by its number or its layer's name; some by a slice."""
        if isinstance(index, str):
            self.network[index]  # a KeyError that names all
            return next(row for row in self if row.layer.name == index)
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[LayerProfile]:
        return iter(self._rows)

    @property
    def milliseconds(self) -> float:
        """Of all layers, one after the other."""
        return sum(row.milliseconds for row in self)

    @property
    def sources(self) -> dict[str, float]:
        """Where the times are from, such as "modelled for A100", and how many milliseconds each makes up."""
        found: dict[str, float] = {}
        for row in self:
            if row.time:
                found[row.time.source] = found.get(row.time.source, 0.0) + row.milliseconds
        return found

    @property
    def slow(self) -> list[LayerProfile]:
        """The fewest layers that together take half of the time, the slowest first."""
        chosen: list[LayerProfile] = []
        for row in sorted(self, key=lambda row: -row.milliseconds):
            if 2 * sum(each.milliseconds for each in chosen) >= self.milliseconds:
                break
            chosen.append(row)
        return chosen

    @property
    def totals(self) -> dict[str, Any]:
        """What the layers add up to, and the most memory that one of them needs."""
        network, dtype = self.network, self.dtype
        return {
            "parameters": network.parameters,
            "macs": network.macs,
            "milliseconds": self.milliseconds,
            "activation_bytes": network.activations(dtype),
            "peak_bytes": network.peak(dtype)[1],
            "peak_layer": network.peak(dtype)[0],
            "peak_bytes_im2col": network.peak(dtype, im2col=True)[1],
            "peak_layer_im2col": network.peak(dtype, im2col=True)[0],
        }

    def records(self) -> list[dict[str, Any]]:
        """Every row as plain data: bytes, milliseconds, FLOP for a byte; a table of pandas takes it as it is."""
        return [row.as_record() for row in self]

    def to_csv(self, path: str | Path) -> None:
        """Write all rows, under a line of the names in `convlab.nets.row.FIELDS`; raises ``OSError``."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(self.records())

    def plot(self) -> Picture:
        """Draw the layers as bars, on which the slow ones stand out."""
        names = ", ".join(row.layer.name for row in self.slow)
        title = f"{self._title()}: {self.milliseconds:.4g} ms, {self._kinds()}"
        count = len(self.slow)
        alt = f"Bars of {title}. {count} of {len(self)} layers take half of the time: {names}."
        return Picture(draw(self, self.slow, title), alt)

    def _title(self) -> str:
        return f"{self.network.name}, N={self.network.input_shape[0]}, {self.dtype}"

    def _kinds(self) -> str:
        return " and ".join(self.sources) or "no time"

    def _notes(self) -> list[str]:
        """Sentences on totals, times, memory, and the reasons for each method."""
        totals, slow = self.totals, self.slow
        names = ", ".join(f"{row.layer.name} ({100 * row.milliseconds / self.milliseconds:.0f} %)" for row in slow)
        parts = ", ".join(f"{short(count)} {part}" for part, (count, _) in self.network.parts.items() if count)
        notes = [
            f"Parameters: {short(totals['parameters'])} ({parts}). MACs: {short(totals['macs'])}.",
            "Columns: live is the memory of all activations while the layer runs, im2col that with its columns; bound "
            "is by compulsory bytes, waits for is by the model.",
            f"Memory of activations: at most {short(totals['peak_bytes'], 'B')} at a time, in {totals['peak_layer']}; "
            f"with im2col {short(totals['peak_bytes_im2col'], 'B')}, in {totals['peak_layer_im2col']}; "
            f"training keeps {short(totals['activation_bytes'], 'B')}. Parameters come on top.",
            f"Time: {self.milliseconds:.4g} ms; "
            + ", ".join(f"{ms:.4g} ms {source}" for source, ms in self.sources.items())
            + ". Batch norms and activations are taken as folded into the layer before.",
            f"Half of the time: {names}.",
        ]
        return notes + [f"{method}: {why} ({', '.join(layers)})" for (method, why), layers in self._reasons().items()]

    def _reasons(self) -> dict[tuple[str, str], list[str]]:
        """Each method with each reason, and the layers that it holds for, shortened."""
        found: dict[tuple[str, str], list[str]] = {}
        for row in self:
            if row.method:
                found.setdefault((row.method, row.why), []).append(row.layer.name)
        most = 4
        return {
            key: names if len(names) <= most else [*names[:most], f"and {len(names) - most} more"]
            for key, names in found.items()
        }

    def _cells(self) -> list[list[str]]:
        return [[text(row) for text in COLUMNS.values()] for row in self]

    def __repr__(self) -> str:
        rows = [list(COLUMNS), *self._cells()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        notes = [line for note in self._notes() for line in wrap(note, WIDTH, subsequent_indent="  ")]
        return "\n".join([f"{self._title()}, for the {self.gpu.name}", *lines, "", *notes])

    def _repr_html_(self) -> str:
        heads = "".join(f"<th {LEFT}>{escape(name)}</th>" for name in COLUMNS)
        body = "".join(
            f"<tr{' style=font-weight:bold' * (row in self.slow)}>"
            + "".join(f"<td {LEFT}>{escape(text)}</td>" for text in cells)
            + "</tr>"
            for row, cells in zip(self, self._cells(), strict=True)
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        title = f"<p><b>{escape(self._title())}, for the {escape(self.gpu.name)}</b></p>"
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        return f"{title}{self.plot()._repr_html_()}{table}{notes}"
