"""A transposed convolution twice: input cells scatter copies of the filter, and a window slides over inserted zeros."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.reference.transposed import flipped_filters, spread
from convlab.spec import ConvTransposeSpec
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, number_text, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["TransposedView", "transposed"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class TransposedView(View):
    """The picture of a transposed convolution.

    ``overlap``, of shape (P, Q), counts the products that each output is the sum of; ``even`` says whether all outputs
    away from the border are sums of equally many.
    """

    overlap: Ids
    even: bool


class _Scatter(NamedTuple):
    """Which pixel adds to which place with which tap: arrays of equal length; places are those before cropping."""

    h: Ids
    w: Ids
    r: Ids
    s: Ids
    row: Ids
    col: Ids


def transposed(
    spec: ConvTransposeSpec, x: npt.ArrayLike | None = None, w: npt.ArrayLike | None = None
) -> TransposedView:
    """Show what each input cell adds to the output, and the same as a convolution of the input spread with zeros.

    >>> view = transposed(ConvTransposeSpec(n=1, c=1, h=2, w=3, k=1, r=3, s=3, stride=2))
    >>> view.overlap.tolist()[2], view.even
    ([2, 2, 4, 2, 4, 2, 2], False)

    Parameters: ``spec`` has one image and one channel each; ``x`` of shape (H, W) and ``w`` of shape (R, S) are the
    values, small whole numbers where None. What padding crops is drawn, and marked. The first frame shows all, the
    others go from input cell to input cell, with the sums so far.

    Raises ``ValueError`` for more than one channel or image, and for arrays of another shape.
    Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016), section 4; Odena, Dumoulin
    and Olah, Deconvolution and checkerboard artifacts (2016).
    """
    if (spec.n, spec.c, spec.k) != (1, 1, 1):
        fix = "draw one channel of one image: n=1, c=1, k=1"
        raise ValueError(f"The picture has one channel, not {spec.c} and {spec.k}.\n  In: {spec}\n  Fix: {fix}.")
    pixels = _shaped("x", _sample(spec.h, spec.w) if x is None else x, (spec.h, spec.w), spec)
    taps = _shaped("w", _sample(spec.r, spec.s, start=1) if w is None else w, (spec.r, spec.s), spec)
    scatter = _scatter(spec)
    canvas = spread(1 + np.arange(spec.h * spec.w).reshape(spec.input_shape), spec)[0, 0] - 1  # −1: an inserted zero
    sums, counts = np.zeros(_extent(spec), taps.dtype), np.zeros(_extent(spec), np.intp)
    np.add.at(sums, (scatter.row, scatter.col), pixels[scatter.h, scatter.w] * taps[scatter.r, scatter.s])
    np.add.at(counts, (scatter.row, scatter.col), 1)
    panels = [
        _tensor("input", "Input x", "x", "hw", pixels, "input"),
        _tensor("filter", "Filter w", "w", "rs", taps, "filter"),
        _tensor("turned", "Filter, turned by 180°", "w turned", "rs", _turned(taps), "filter"),
        _output(spec, sums, counts),
        _canvas(spec, canvas, pixels),
        _overlap(spec, _cropped(counts, spec)),
    ]
    ids = cell_ids(panels)
    overlap = _cropped(counts, spec)
    words = _evenness(spec)
    captions = [*_formulas(spec), words, _products(spec, overlap)]
    title = f"Transposed convolution: {spec.h}×{spec.w} → {spec.p}×{spec.q}, {spec.r}×{spec.s} filter"
    return TransposedView(
        title=title,
        alt=f"{title}. Each input cell adds a weighted copy of the filter to the output; beside it the input spread "
        f"with zeros, whose convolution with the turned filter is the same, and how many products each output is the "
        f"sum of. {' '.join(captions)}",
        panels=panels,
        links=_links(spec, scatter, canvas, ids),
        captions=captions,
        legend={"idle": "cropped away by the padding", "gap": "zero that was inserted"},
        frames=_frames(spec, scatter, pixels, taps, canvas, ids),
        overlap=overlap,
        even=words.startswith("Even"),
    )


def _scatter(spec: ConvTransposeSpec) -> _Scatter:
    h, w, r, s = (index.ravel() for index in np.indices((spec.h, spec.w, spec.r, spec.s)))
    (stride_h, stride_w), (dilation_h, dilation_w) = spec.stride, spec.dilation
    return _Scatter(h, w, r, s, row=h * stride_h + r * dilation_h, col=w * stride_w + s * dilation_w)


def _extent(spec: ConvTransposeSpec) -> tuple[int, int]:
    """Rows and columns before cropping, with those that output padding adds beyond."""
    top, bottom, left, right = spec.padding
    reach = spec.p + top + bottom - spec.output_padding[0], spec.q + left + right - spec.output_padding[1]
    return max(reach[0], top + spec.p), max(reach[1], left + spec.q)


def _cropped(values: Array, spec: ConvTransposeSpec) -> Array:
    top, _, left, _ = spec.padding
    return values[top : top + spec.p, left : left + spec.q]


def _turned(taps: Array) -> Array:
    turned: Array = flipped_filters(taps[np.newaxis, np.newaxis], groups=1)[0, 0]
    return turned


def _sample(rows: int, cols: int, start: int = 0) -> Array:
    """Numbers from 1 to 3, so that the sums of all overlaps have two digits."""
    i, j = np.indices((rows, cols))
    return 1 + (2 * i + j + start) % 3


def _shaped(name: str, values: npt.ArrayLike, shape: tuple[int, int], spec: ConvTransposeSpec) -> Array:
    array = np.asarray(values)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}.\n  In: {spec}\n  Fix: give {name} the shape {shape}.")
    return array


def _numbers(values: Array) -> list[str]:
    return [number_text(value) for value in values.ravel().tolist()]


def _indices(values: Array, letters: str) -> list[str]:
    """The index of each cell, as "h=0, w=2"."""
    return [f"{letters[0]}={i}, {letters[1]}={j}" for i, j in np.ndindex(*values.shape)]


def _along(places: int, cropped: int = 0) -> list[str]:
    """The numbers along an edge; what is cropped at its beginning is below 0."""
    return [number_text(place - cropped) for place in range(places)]


def _tensor(name: str, title: str, word: str, axes: str, values: Array, kind: str) -> Panel:
    texts = _numbers(values)
    rows, cols = values.shape
    return Panel(
        name=name,
        title=title,
        subtitle=f"{rows} × {cols}",
        rows=rows,
        cols=cols,
        labels=[f"{word}[{at}] = {text}" for at, text in zip(_indices(values, axes), texts, strict=True)],
        values=texts,
        kinds=kind,
        row_axis=axes[0].upper(),
        col_axis=axes[1].upper(),
        row_index=_along(rows),
        col_index=_along(cols),
    )


def _output(spec: ConvTransposeSpec, sums: Array, counts: Ids) -> Panel:
    rows, cols = sums.shape
    top, _, left, _ = spec.padding
    kept = np.zeros(sums.shape, bool)
    _cropped(kept, spec)[:] = True
    cells = [
        (
            f"y[p={i - top}, q={j - left}] = {number_text(float(sums[i, j]))}, the sum of {counts[i, j]} products",
            "output",
        )
        if kept[i, j]
        else (f"row {number_text(i - top)}, column {number_text(j - left)}: cropped away", "idle")
        for i, j in np.ndindex(rows, cols)
    ]
    return Panel(
        name="output",
        title="Output y: copies of the filter, added",
        subtitle=f"{spec.p} × {spec.q}" + (f", before cropping {rows} × {cols}" if not kept.all() else ""),
        rows=rows,
        cols=cols,
        labels=[label for label, _ in cells],
        values=[text if keep else "" for text, keep in zip(_numbers(sums), kept.ravel().tolist(), strict=True)],
        kinds=[kind for _, kind in cells],
        row_axis="P",
        col_axis="Q",
        line=1,
        row_index=_along(rows, top),
        col_index=_along(cols, left),
    )


def _canvas(spec: ConvTransposeSpec, canvas: Ids, pixels: Array) -> Panel:
    rows, cols = canvas.shape
    flat = pixels.ravel()
    labels = [
        f"x[h={cell // spec.w}, w={cell % spec.w}] = {number_text(flat[cell])}, spread"
        if cell >= 0
        else "a zero that was inserted"
        for cell in canvas.ravel().tolist()
    ]
    return Panel(
        name="spread",
        title="The same: input spread with zeros",
        subtitle=f"{rows} × {cols}, convolved at stride 1",
        rows=rows,
        cols=cols,
        labels=labels,
        values=[number_text(flat[cell]) if cell >= 0 else "" for cell in canvas.ravel().tolist()],
        kinds=["input" if cell >= 0 else "gap" for cell in canvas.ravel().tolist()],
        line=1,
    )


def _overlap(spec: ConvTransposeSpec, overlap: Ids) -> Panel:
    most = int(overlap.max())
    return Panel(
        name="overlap",
        title="Overlap: products in each output",
        subtitle=f"from {overlap.min()} to {most}",
        rows=spec.p,
        cols=spec.q,
        labels=[
            f"y[{at}]: products of {count} input cells"
            for at, count in zip(_indices(overlap, "pq"), overlap.ravel().tolist(), strict=True)
        ],
        values=_numbers(overlap),
        shades=(overlap / (most + 1)).ravel().tolist(),
        row_axis="P",
        col_axis="Q",
        line=1,
        row_index=_along(spec.p),
        col_index=_along(spec.q),
    )


def _links(spec: ConvTransposeSpec, scatter: _Scatter, canvas: Ids, ids: Mapping[str, Ids]) -> Ids:
    top, _, left, _ = spec.padding
    pixel, tap = ids["input"][scatter.h, scatter.w], ids["filter"][scatter.r, scatter.s]
    place = ids["output"][scatter.row, scatter.col]
    p, q = scatter.row - top, scatter.col - left
    kept = (p >= 0) & (p < spec.p) & (q >= 0) & (q < spec.q)
    y = _cropped(ids["output"], spec)
    i, j, r, s = np.indices((spec.p, spec.q, spec.r, spec.s))
    window = ids["spread"][i + r * spec.dilation[0], j + s * spec.dilation[1]].reshape(y.size, -1)
    at, pixels = ids["spread"][canvas >= 0], ids["input"].ravel()[canvas[canvas >= 0]]
    return join(
        pairs(pixel, place),
        pairs(tap, place),
        pairs(pixel[kept], ids["overlap"][p[kept], q[kept]]),
        pairs(pixels, at),
        pairs(y, ids["overlap"]),
        pairs(y.reshape(-1, 1), window),
        pairs(y.reshape(-1, 1), ids["turned"].ravel()),
        pairs(ids["filter"], ids["turned"][::-1, ::-1]),
    )


def _frames(
    spec: ConvTransposeSpec, scatter: _Scatter, pixels: Array, taps: Array, canvas: Ids, ids: Mapping[str, Ids]
) -> list[Frame]:
    """The whole; then one input cell after the other adds its copy, and places that none has reached yet are empty."""
    frames = [
        Frame(
            f"Complete: {count_text(pixels.size, 'input cell')} added, one copy of the filter each. Step on to watch."
        )
    ]
    sums, texts = np.zeros(_extent(spec), taps.dtype), dict.fromkeys(_cropped(ids["output"], spec).ravel().tolist(), "")
    for pixel, value in enumerate(pixels.ravel().tolist()):
        mine = slice(pixel * taps.size, (pixel + 1) * taps.size)
        row, col = scatter.row[mine], scatter.col[mine]
        sums[row, col] += value * taps.ravel()
        reached = ids["output"][row, col].tolist()
        texts |= {
            cell: number_text(total)
            for cell, total in zip(reached, sums[row, col].tolist(), strict=True)
            if cell in texts
        }
        lit = [*reached, *ids["filter"].ravel().tolist(), *ids["spread"][canvas == pixel].tolist()]
        name = f"x[h={pixel // spec.w}, w={pixel % spec.w}]"
        number = number_text(value)
        caption = f"{name} = {number} adds {number} times the filter to the cells that are lit."
        frames.append(Frame(caption, here=int(ids["input"].ravel()[pixel]), lit=lit, values=dict(texts)))
    return frames


def _formulas(spec: ConvTransposeSpec) -> list[str]:
    top, bottom, left, right = spec.padding
    sides = [
        ("P = (H", spec.h, spec.stride[0], spec.dilation[0], "R", spec.r, top + bottom, spec.output_padding[0], spec.p),
        ("Q = (W", spec.w, spec.stride[1], spec.dilation[1], "S", spec.s, left + right, spec.output_padding[1], spec.q),
    ]
    texts = [
        f"{start} − 1)·stride + dilation·({letter} − 1) + 1 − cropped + output padding = "
        f"({size} − 1)·{stride} + {dilation}·({taps} − 1) + 1 − {cropped} + {extra} = {outputs}."
        for start, size, stride, dilation, letter, taps, cropped, extra, outputs in sides
    ]
    return texts if sides[0][1:4] + sides[0][5:] != sides[1][1:4] + sides[1][5:] else texts[:1]


def _per_phase(taps: int, stride: int, dilation: int) -> Ids:
    """How many taps reach an output away from the border, for each place that it can have within a stride."""
    return np.bincount(np.arange(taps) * dilation % stride, minlength=stride)


def _evenness(spec: ConvTransposeSpec) -> str:
    axes = list(zip((spec.r, spec.s), spec.stride, spec.dilation, strict=True))
    inner = np.multiply.outer(*(_per_phase(*axis) for axis in axes))
    if inner.min() == inner.max():
        return f"Even: each output far from all borders is the sum of {count_text(int(inner.max()), 'product')}."
    reasons: Sequence[str] = [
        f"dilation {dilation} shares a factor with stride {stride}"
        if np.gcd(dilation, stride) > 1
        else f"a filter of {taps} is no multiple of stride {stride}"
        for taps, stride, dilation in axes
        if np.ptp(_per_phase(taps, stride, dilation))
    ]
    return (
        f"Uneven, a checkerboard: away from the border outputs are sums of {inner.min()} to {inner.max()} products, "
        f"since {' and '.join(dict.fromkeys(reasons))}. Cure: a filter whose size is a multiple of the stride, "
        "undilated; or resize the input first, and convolve at stride 1."
    )


def _products(spec: ConvTransposeSpec, overlap: Ids) -> str:
    inserted = spec.p * spec.q * spec.r * spec.s
    zeros = inserted - int(overlap.sum())
    return (
        f"Adding copies takes H·W·R·S = {count_text(spec.macs, 'product')}; the convolution of the spread input takes "
        f"P·Q·R·S = {inserted}, of which {zeros} ({100 * zeros / inserted:.0f} %) have an inserted zero as a factor."
    )
