"""The family of convolutions as matrices: which input channel each output channel reads, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.spec import ConvSpec, SeparableSpec
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["Cost", "FamilyView", "family"]

WHOLE = 8  # channels along a side that are drawn one by one; beyond, a cell stands for several
DTYPE = "float32"


class Cost(NamedTuple):
    """What a convolution takes: parameters, multiply-accumulates, compulsory bytes, and FLOP per byte."""

    parameters: int
    macs: int
    bytes: int

    @property
    def intensity(self) -> float:
        """FLOP per compulsory byte."""
        return 2 * self.macs / self.bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class FamilyView(View):
    """The picture of the family; ``costs`` has what each kind costs, by its name."""

    costs: Mapping[str, Cost]


class _Matrix(NamedTuple):
    """The matrix of one convolution: the name and the words of its panel, its sizes, and the sign before it."""

    name: str
    title: str
    spec: ConvSpec
    line: int = 0
    operator: str = ""
    inputs: str = "input"
    outputs: str = "output"


def family(spec: ConvSpec) -> FamilyView:
    """Show five kinds of convolution as matrices, a row an output channel and a column an input channel.

    >>> view = family(ConvSpec(n=1, c=4, h=8, w=8, k=4, r=3, s=3, padding=1, groups=2))
    >>> [(name, cost.parameters) for name, cost in view.costs.items()]
    [('standard', 144), ('grouped', 72), ('depthwise', 36), ('pointwise', 16), ('separable', 52)]

    Parameters: ``spec`` is the grouped member; the others have its image, stride and filter. Depthwise has one filter a
    channel, and so as many outputs as inputs; pointwise has 1×1 filters and no padding; separable is depthwise and then
    pointwise, as two convolutions: the tensor between them is written, and read again. Bytes are the compulsory ones of
    float32. Of more than 8 channels along a side, a cell stands for several.
    """
    depthwise = replace(spec, k=spec.c, groups=spec.c)
    pair = SeparableSpec(depthwise, spec.k)
    pointwise = replace(spec, r=1, s=1, padding=(0, 0, 0, 0), dilation=(1, 1), groups=1)
    matrices = [
        _Matrix("standard", "Standard", replace(spec, groups=1)),
        _Matrix("grouped", f"Grouped, {spec.groups} group{'s' * (spec.groups > 1)}", spec),
        _Matrix("depthwise", "Depthwise", depthwise),
        _Matrix("pointwise", "Pointwise", pointwise),
        _Matrix("separable: first", "Separable: depthwise …", depthwise, 1, outputs="middle"),
        _Matrix("separable: second", "… then pointwise", pair.pointwise, 1, "→", inputs="middle"),
    ]
    costs = {matrix.name: _cost(matrix.spec) for matrix in matrices[:4]}
    costs["separable"] = _cost(depthwise, pair.pointwise)
    panels = [*map(_panel, matrices), _table(costs)]
    ids = cell_ids(panels)
    captions = _captions(spec, costs)
    return FamilyView(
        title=f"The family of convolutions: {spec.c} → {spec.k} channels of {spec.h}×{spec.w}",
        alt=_alt(matrices, costs),
        panels=panels,
        links=join(*_links(matrices, ids), *_rows(costs, ids)),
        captions=captions,
        legend={"filter": "connected: a filter's plane of weights", "idle": "not connected: no weights"},
        example=int(ids["grouped"][0, 1]),
        costs=costs,
    )


def _cost(*specs: ConvSpec) -> Cost:
    traffic = [spec.traffic(DTYPE) for spec in specs]
    itemsize = np.dtype(DTYPE).itemsize
    return Cost(
        parameters=sum(each.weights for each in traffic) // itemsize,
        macs=sum(spec.macs for spec in specs),
        bytes=sum(each.total for each in traffic),
    )


def _bundle(channels: int) -> int:
    """How many channels a cell stands for."""
    return -(-channels // WHOLE)


def _connected(spec: ConvSpec) -> npt.NDArray[np.float64]:
    """The share of the pairs of channels in each cell that a filter connects, of shape (rows, columns)."""
    group_of_output = np.arange(spec.k) // (spec.k // spec.groups)
    group_of_input = np.arange(spec.c) // (spec.c // spec.groups)
    pairs_of = (group_of_output[:, np.newaxis] == group_of_input).astype(float)
    rows, cols = (np.arange(0, channels, _bundle(channels)) for channels in (spec.k, spec.c))
    connected = np.add.reduceat(np.add.reduceat(pairs_of, rows, axis=0), cols, axis=1)
    possible = np.add.reduceat(np.add.reduceat(np.ones_like(pairs_of), rows, axis=0), cols, axis=1)
    shares: npt.NDArray[np.float64] = connected / possible
    return shares


def _panel(matrix: _Matrix) -> Panel:
    """The matrix, with the input channels above it and the output channels left of it as cells of their own."""
    spec, shares = matrix.spec, _connected(matrix.spec)
    outputs, inputs = _names(spec.k), _names(spec.c)
    taps = f"{spec.r}×{spec.s}"
    whole = len(outputs) == spec.k and len(inputs) == spec.c
    labels = ["inputs across, outputs down", *(f"{matrix.inputs} {name}" for name in inputs)]
    values = ["", *(name.split()[1] for name in inputs)]
    kinds = ["plain", *["input"] * len(inputs)]
    bars = [0.0, *[1.0] * len(inputs)]
    for name, row in zip(outputs, shares.tolist(), strict=True):
        labels += [f"{matrix.outputs} {name}", *(_words(share, taps, whole) for share in row)]
        values += [name.split()[1], *(str(spec.r * spec.s) if share and whole else "" for share in row)]
        kinds += ["output", *("filter" if share else "idle" for share in row)]
        bars += [1.0, *row]
    connections = spec.k * spec.c // spec.groups
    return Panel(
        name=matrix.name,
        title=matrix.title,
        subtitle=f"{connections:,} of {spec.k * spec.c:,} pairs, {taps} each",
        rows=len(outputs) + 1,
        cols=len(inputs) + 1,
        labels=labels,
        values=values,
        kinds=kinds,
        bars=() if whole else bars,
        row_axis="K",
        col_axis="C",
        row_lines=(1,),
        col_lines=(1,),
        operator=matrix.operator,
        line=matrix.line,
    )


def _names(channels: int) -> list[str]:
    """What each cell along a side stands for."""
    step = _bundle(channels)
    ends = [(first, min(first + step, channels) - 1) for first in range(0, channels, step)]
    return [f"channel {a}" if a == b else f"channels {a} to {b}" for a, b in ends]


def _words(share: float, taps: str, whole: bool) -> str:
    if not share:
        return "not connected"
    return f"connected by {taps} taps" if whole else f"{100 * share:.0f} % of the pairs connected, by {taps} taps each"


def _table(costs: Mapping[str, Cost]) -> Panel:
    columns = ("parameters", "MACs", "bytes", "FLOP/byte")
    table = [[cost.parameters, cost.macs, cost.bytes, cost.intensity] for cost in costs.values()]
    numbers = np.array(table, dtype=float)
    texts = [f"{number:,}" if isinstance(number, int) else f"{number:.2f}" for row in table for number in row]
    words = [f"{name}: {column}" for name in costs for column in columns]
    return Panel(
        name="costs",
        title="What each kind costs",
        subtitle="bytes: each tensor crosses the memory bus once, float32",
        rows=len(table),
        cols=len(columns),
        labels=[f"{word} = {text}" for word, text in zip(words, texts, strict=True)],
        values=texts,
        bars=(numbers / numbers.max(axis=0)).ravel().tolist(),
        kinds="register",
        row_index=list(costs),
        col_index=columns,
        cell_width=4,
        line=1,
    )


def _links(matrices: Sequence[_Matrix], ids: Mapping[str, Ids]) -> list[Ids]:
    """An input channel with all that use it, in every matrix at once; each output with the inputs that it reads."""
    links, heads = [], [ids[matrix.name][0, 1:] for matrix in matrices]
    for matrix in matrices:
        cells = ids[matrix.name]
        k, c = np.nonzero(_connected(matrix.spec))
        links += [pairs(head[c], cells[k + 1, 0]) for head in heads]
        links += [pairs(head[c], cells[k + 1, c + 1]) for head in heads]
        links += [pairs(cells[k + 1, 0], cells[k + 1, c + 1])]
    links += [pairs(one, other) for i, one in enumerate(heads) for other in heads[:i]]
    return links


def _rows(costs: Mapping[str, Cost], ids: Mapping[str, Ids]) -> list[Ids]:
    """All numbers of a kind."""
    first, second = np.triu_indices(ids["costs"].shape[1], k=1)
    return [pairs(row[first], row[second]) for row in ids["costs"]]


def _captions(spec: ConvSpec, costs: Mapping[str, Cost]) -> list[str]:
    standard, depthwise, separable = (costs[name] for name in ("standard", "depthwise", "separable"))
    bundles = f"{_bundle(spec.k)} × {_bundle(spec.c)}"
    note = f"A cell stands for {bundles} channels, and is filled by the part of their pairs that are connected."
    return [
        f"Separable does {_percent(separable.macs / standard.macs)} of the standard convolution's MACs, and moves "
        f"{_percent(separable.bytes / standard.bytes)} of its bytes.",
        f"Each byte moved gives {standard.intensity:.1f} FLOP in the standard convolution and "
        f"{depthwise.intensity:.1f} in the depthwise one: few MACs alone make nothing fast.",
        *([note] if bundles != "1 × 1" else []),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _alt(matrices: Sequence[_Matrix], costs: Mapping[str, Cost]) -> str:
    drawn = [
        f"{matrix.title.strip('… ')}: filters connect {matrix.spec.k * matrix.spec.c // matrix.spec.groups} of "
        f"{matrix.spec.k * matrix.spec.c} pairs of channels with {matrix.spec.r}×{matrix.spec.s} taps."
        for matrix in matrices
    ]
    bills = [
        f"{name}: {cost.parameters:,} parameters, {cost.macs:,} MACs, {cost.bytes:,} bytes, "
        f"{cost.intensity:.2f} FLOP per byte."
        for name, cost in costs.items()
    ]
    return " ".join(
        ["Matrices with a row for each output channel and a column for each input channel.", *drawn, *bills]
    )
