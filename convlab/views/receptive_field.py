"""The receptive field of stacked convolutions: which pixels an output of the last layer depends on, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["WIDEST", "Layer", "ReceptiveFieldView", "receptive_field", "spans"]

WIDEST = 67  # cells beside each other that can still be told apart
_OUTPUTS = 9  # of the last layer that are drawn at most
_LEGEND = {"waste": "inside the marked output’s receptive field, but not read by it", "gap": ""}

Counts = npt.NDArray[np.int64]


class Layer(NamedTuple):
    """One convolution of a stack, along one axis."""

    kernel: int
    stride: int = 1
    dilation: int = 1


class Span(NamedTuple):
    """What one cell of a layer spans of the input: how many pixels, and how far the next cell's begin from its own."""

    size: int
    jump: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ReceptiveFieldView(View):
    """The picture of a stack; ``size`` is the receptive field of its outputs in pixels, ``jump`` the distance between
    those of neighbours, and ``read`` counts the pixels of it that an output depends on."""

    size: int
    jump: int
    read: int


def receptive_field(layers: Sequence[Layer | tuple[int, int, int]]) -> ReceptiveFieldView:
    """Show stacked convolutions along one axis: point at a cell, and all that it depends on lights up, layer by layer.

    >>> view = receptive_field([Layer(kernel=3, dilation=d) for d in (1, 2, 4)])
    >>> view.size, view.jump, view.read
    (15, 1, 15)
    >>> receptive_field([Layer(kernel=3, dilation=2)] * 3).read
    7

    Parameters: ``layers`` from the first on, each a kernel, a stride and a dilation; there is no padding. The output in
    the middle is marked: numbers count the paths to it from each cell, and the pixels that it skips are hatched.

    Raises ``ValueError`` for no layer, for numbers that are not whole or below 1, and for a receptive field of more
    than 67 pixels. Source: Araujo, Norris and Sim, Computing receptive fields of convolutional neural networks (2019).
    """
    stack = [Layer(*layer) for layer in layers]
    _check(stack)
    reach = spans(stack)
    size, jump = reach[-1]
    if size > WIDEST:
        raise ValueError(
            f"The receptive field spans {size} pixels, more than the {WIDEST} that can be drawn.\n"
            f"  In: {stack}\n  Fix: use fewer layers, or smaller kernels, strides and dilations."
        )
    outputs = min(_OUTPUTS, (WIDEST - size) // jump + 1)
    reads = _reads(stack, outputs - 1 + outputs % 2)
    paths = _paths(reads)
    places = _places(stack, reads)
    panels = [_panel(stack, at, reach, paths[at], places[at], places[0].size) for at in reversed(range(len(paths)))]
    ids = cell_ids(panels)
    pixels = np.flatnonzero(paths[0])
    captions = _captions(stack, reach, pixels - pixels[0])
    title = f"Receptive field of {count_text(len(stack), 'layer')}"
    return ReceptiveFieldView(
        title=title,
        alt=" ".join([f"{title}, along one axis.", *(f"{each.title}: {each.subtitle}." for each in panels), *captions]),
        panels=panels,
        links=_links(reads, places, ids),
        captions=captions,
        legend=_LEGEND,
        example=int(ids[_name(len(stack), len(stack))][0, places[-1][paths[-1] > 0][0]]),
        size=size,
        jump=jump,
        read=pixels.size,
    )


def spans(layers: Sequence[Layer]) -> list[Span]:
    """Give what a cell of the input, and of each layer, spans of the input.

    >>> spans([Layer(3), Layer(3, stride=2), Layer(5, dilation=2)])
    [Span(size=1, jump=1), Span(size=3, jump=1), Span(size=5, jump=2), Span(size=21, jump=2)]
    """
    found = [Span(1, 1)]
    for layer in layers:
        size, jump = found[-1]
        found.append(Span(size + (layer.kernel - 1) * layer.dilation * jump, jump * layer.stride))
    return found


def _check(layers: Sequence[Layer]) -> None:
    if not layers:
        raise ValueError("There is no layer.\n  Fix: give at least one, such as Layer(kernel=3).")
    for layer in layers:
        for name, value in layer._asdict().items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"{name}={value!r} is not a whole number from 1 up.\n  In: {layer}\n  Fix: give {name} in cells."
                )


def _reads(layers: Sequence[Layer], outputs: int) -> list[npt.NDArray[np.bool_]]:
    """Tell which cells each cell of a layer reads of the one before, of shape (cells, cells before)."""
    found: list[npt.NDArray[np.bool_]] = []
    for kernel, stride, dilation in reversed(layers):
        taps = np.arange(outputs)[:, np.newaxis] * stride + np.arange(kernel) * dilation
        reads = np.zeros((outputs, int(taps.max()) + 1), bool)
        np.put_along_axis(reads, taps, True, axis=1)
        found.insert(0, reads)
        outputs = reads.shape[1]
    return found


def _paths(reads: Sequence[npt.NDArray[np.bool_]]) -> list[Counts]:
    """Count the paths from the output in the middle to each cell, of the input first and the last layer last."""
    outputs = len(reads[-1])
    found = [(np.arange(outputs) == outputs // 2).astype(np.int64)]
    for each in reversed(reads):
        found.insert(0, found[0] @ each)
    return found


def _places(layers: Sequence[Layer], reads: Sequence[npt.NDArray[np.bool_]]) -> list[Ids]:
    """Place each cell above the middle of the pixels that it spans, for the input and each layer."""
    places = [np.arange(reads[0].shape[1])]
    for (size, jump), each in zip(spans(layers)[1:], reads, strict=True):
        places.append((size - 1) // 2 + jump * np.arange(len(each)))
    return places


def _name(at: int, layers: int) -> str:
    return "input" if at == 0 else "output" if at == layers else f"layer {at}"


def _panel(layers: Sequence[Layer], at: int, reach: Sequence[Span], paths: Counts, places: Ids, width: int) -> Panel:
    """Draw the input (0) or a layer as one row, as wide as the input, with no cell where the layer has none."""
    name, (size, jump) = _name(at, len(layers)), reach[at]
    used = np.flatnonzero(paths)
    inside = (np.arange(paths.size) >= used[0]) & (np.arange(paths.size) <= used[-1])
    plain = {"input": "input", "output": "output"}.get(name, "register")
    kinds, values, labels = width * ["gap"], width * [""], width * ["no cell"]
    for cell, (place, count, spanned) in enumerate(zip(places.tolist(), paths.tolist(), inside.tolist(), strict=True)):
        kinds[place] = "waste" if at == 0 and spanned and not count else plain
        values[place] = str(count) if count else ""
        labels[place] = f"{name} {cell}: " + (
            f"{count_text(count, 'path')} to the marked output"
            if count
            else "spanned by the marked output, not read by it"
            if spanned
            else "not spanned by the marked output"
        )
    words = count_text(size, "pixel") + (f", neighbours {jump} apart" if jump > 1 else "")
    return Panel(
        name=name,
        title=_title(at, layers),
        subtitle=f"a cell spans {words}" if at else f"{width} pixels",
        rows=1,
        cols=width,
        labels=labels,
        values=values,
        kinds=kinds,
        col_index=[str(place) for place in range(width)] if at == 0 else (),
        line=len(layers) - at,
    )


def _title(at: int, layers: Sequence[Layer]) -> str:
    if at == 0:
        return "Input"
    layer = layers[at - 1]
    stride = f", stride {layer.stride}" if layer.stride > 1 else ""
    return f"Layer {at}: kernel {layer.kernel}{stride}, dilation {layer.dilation}"


def _links(reads: Sequence[npt.NDArray[np.bool_]], places: Sequence[Ids], ids: Mapping[str, Ids]) -> Ids:
    """Link each cell with all that it depends on, in every layer before it."""
    links = []
    for low, high in combinations(range(len(places)), 2):
        reached: Any = np.eye(len(places[high]), dtype=bool)
        for each in reversed(reads[low:high]):
            reached = reached @ each
        above, below = np.nonzero(reached)
        cells = (ids[_name(at, len(reads))][0] for at in (high, low))
        links.append(pairs(next(cells)[places[high][above]], next(cells)[places[low][below]]))
    return join(*links)


def _captions(layers: Sequence[Layer], reach: Sequence[Span], pixels: Ids) -> list[str]:
    size, jump = reach[-1]
    steps = [(layer.kernel - 1, layer.dilation, before.jump) for layer, before in zip(layers, reach, strict=False)]
    terms = " + ".join(f"{reading}·{dilation}·{before}" for reading, dilation, before in steps)
    seen = f"all {size}" if pixels.size == size else f"{pixels.size}"
    apart = f"neighbouring outputs lie {count_text(jump, 'pixel')} apart"
    return [
        f"An output spans 1 + {terms} = {size} pixels: 1, and (kernel − 1) · dilation · jump a layer.",
        f"It reads {seen} of them{_others(size, jump, pixels)}. Jump: {apart}.",
        "Numbers count the paths to the marked output.",
    ]


def _others(size: int, jump: int, pixels: Ids) -> str:
    """Say who reads the pixels that an output skips: the others read what it reads, moved by a multiple of the jump."""
    skipped = np.setdiff1d(np.arange(size), pixels)
    lost = ~np.isin(skipped % jump, pixels % jump)
    if not skipped.size:
        return ""
    if not lost.any():
        return "; its neighbours read the others"
    return "; no output reads the others" if lost.all() else "; its neighbours read some of the others, none the rest"
