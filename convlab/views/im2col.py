"""im2col: every window becomes a column of a matrix, and the convolution one matrix product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from convlab.spec import ConvSpec
from convlab.views.column_matrix import ColumnMatrix, copies, size
from convlab.views.drawn import sums
from convlab.views.grid import Frame, Ids, cell_ids, join, number_text, pairs
from convlab.views.im2col_panels import (
    ITEM,
    chunk_size,
    input_panel,
    matrix_panel,
    memory_panel,
    product_panel,
    weights_panel,
)
from convlab.views.samples import Array, check_index, filter_of, image, numbers
from convlab.views.view import View
from convlab.views.words import bytes_text, count_text

__all__ = ["Im2colView", "im2col"]

_LEGEND = {"copy": "a copy: an earlier column holds it already", "idle": "not in memory in this step"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Im2colView(View):
    """The picture of a column matrix; ``values`` are those that all of it holds, ``copies`` those of them that stand in
    an earlier column already, ``factor`` says how many times the input's values it holds."""

    values: int
    copies: int
    factor: float


def im2col(
    spec: ConvSpec,
    n: int = 0,
    k: int = 0,
    x: npt.ArrayLike | None = None,
    w: npt.ArrayLike | None = None,
    chunk: int | None = None,
) -> Im2colView:
    """Show im2col: the input, the matrix that has each window as a column, the filter as a row, and their product.

    >>> letters = np.array([*"abcdefghi"]).reshape(1, 1, 3, 3)
    >>> view = im2col(ConvSpec(n=1, c=1, h=3, w=3, k=1, r=2, s=2), x=letters)
    >>> view.panels[1].values[:4], view.values, view.copies
    (['a', 'b', 'd', 'e'], 16, 7)

    Parameters: ``n`` is the image and ``k`` the filter which are drawn; ``x`` of shape (N, C, H, W) may hold texts
    instead of numbers, and ``w`` has the shape (K, C/G, R, S); small whole numbers where None. With ``chunk``, only so
    many columns of the matrix exist at a time, and the frames step through them. Memory is counted as float32, for all
    images and groups.

    Raises ``ValueError`` for an index that is not there, arrays of another shape, and a chunk that is no whole number
    from 1 up. Of a large convolution a part is drawn, and a caption says which.

    Source: Chellapilla, Puri and Simard, High performance convolutional neural networks for document processing (2006).
    """
    check_index(spec, {"n": (n, spec.n), "k": (k, spec.k)})
    if chunk is not None and chunk < 1:
        raise ValueError(f"chunk={chunk} holds no column.\n  In: {spec}\n  Fix: give at least 1, or None for all.")
    matrix, weights = ColumnMatrix(spec, k, image(x, n, spec)), filter_of(w, k, spec)
    shown, said = _formulas(matrix, weights) if _is_text(x) else 2 * (_sums(matrix, weights),)
    panels = [
        input_panel(f"x[{n}]", matrix),
        matrix_panel(matrix, whole=chunk is None),
        memory_panel(spec, chunk),
        weights_panel(f"w[{k}]", matrix, weights),
        product_panel(f"y[{n}, {k}]", matrix, shown if chunk is None else len(shown) * [""], said),
    ]
    ids, example = cell_ids(panels), min(1, len(said) - 1)
    title = f"im2col of {spec}"
    captions = _captions(matrix, chunk, [f"{shown[example]} = {said[example]}"] * (shown is not said))
    return Im2colView(
        title=title,
        alt=" ".join([f"{title}.", *(f"{panel.title}: {panel.subtitle}." for panel in panels), *captions]),
        panels=panels,
        links=_links(matrix, ids),
        captions=captions,
        legend=_LEGEND,
        frames=_frames(matrix, ids, shown, chunk) if chunk else (),
        example=int(ids["product"][0, example]),
        values=size(spec),
        copies=copies(spec)[0],
        factor=size(spec) / prod(spec.input_shape),
    )


def _is_text(x: npt.ArrayLike | None) -> bool:
    return np.asarray(x).dtype.kind == "U"


def _sums(matrix: ColumnMatrix, weights: Array) -> list[str]:
    return numbers(sums(matrix.pixels, matrix.first, weights, matrix.sides))


def _formulas(matrix: ColumnMatrix, weights: Array) -> tuple[list[str], list[str]]:
    """Name the outputs, and write each as a sum of products."""
    factors = weights[tuple(matrix.taps)].tolist()
    rest = " + …" if len(factors) < weights.size else ""
    columns = zip(*matrix.values, strict=True)
    return [f"y{number}" for number in matrix.numbers], [_formula(factors, column) + rest for column in columns]


def _formula(factors: Sequence[float], column: Sequence[str]) -> str:
    """Write the products of a column with the weights, without the zeros of the padding.

    >>> _formula([2, -1, 3, 1], "ab0d")
    '2·a − b + d'
    """
    text = ""
    for factor, letter in zip(factors, column, strict=True):
        if letter != "0":
            times = "" if abs(factor) == 1 else f"{number_text(abs(factor))}·"
            sign = "−" if factor < 0 else "+" if text else ""
            text += f" {sign} {times}{letter}" if text else f"{sign}{times}{letter}"
    return text or "0"


def _captions(matrix: ColumnMatrix, chunk: int | None, examples: Sequence[str]) -> list[str]:
    spec, (rows, columns) = matrix.spec, matrix.spec.im2col_shape
    _, channels, r, s = spec.weight_shape
    depth = "C·R·S" if spec.groups == 1 else "(C/G)·R·S"
    across, images = ("P·Q", "") if spec.n == 1 else ("N·P·Q", f"{spec.n}·")
    again, padding = copies(spec)
    held = count_text(size(spec), "value")
    captions = [
        f"{depth} = {channels}·{r}·{s} = {rows:,} rows, one for each weight; "
        f"{across} = {images}{spec.p}·{spec.q} = {columns:,} columns, one for each window"
        + (f"; {spec.groups} such matrices, one for each group." if spec.groups > 1 else "."),
        f"Of {held} in the matrix, {again:,} are copies of others, {padding:,} are zeros of the padding.",
        *examples,
    ]
    if chunk:
        steps = -(-spec.p * spec.q // chunk) * spec.n
        captions += [
            f"In chunks of {count_text(chunk, 'column')}: {count_text(steps, 'step')}, each in the same memory."
        ]
    return [*captions, matrix.left_out] if matrix.left_out else captions


def _links(matrix: ColumnMatrix, ids: Mapping[str, Ids]) -> Ids:
    """Link each cell of the matrix with its pixel, weight, output and copies; and all that an output is made of."""
    cells, product, weights = ids["matrix"], ids["product"], ids["weights"].T
    rows, cols = matrix.sides
    row, col = matrix.places
    drawn = (row < rows.inputs) & (col < cols.inputs)
    x = ids["input"][(matrix.taps[0][:, np.newaxis] * rows.inputs + row)[drawn], col[drawn]]
    each = {name: np.broadcast_to(some, cells.shape)[drawn] for name, some in (("y", product), ("w", weights))}
    first, second = _alike(x)
    return join(
        pairs(cells, product),
        pairs(cells, weights),
        pairs(product, weights),
        pairs(cells[drawn], x),
        pairs(each["y"], x),
        pairs(each["w"], x),
        pairs(cells[drawn][first], cells[drawn][second]),
    )


def _alike(x: Ids) -> tuple[Ids, Ids]:
    """Give all pairs of positions that hold the same number."""
    first, second = np.nonzero(np.triu(x[:, np.newaxis] == x, k=1))
    return first, second


def _frames(matrix: ColumnMatrix, ids: Mapping[str, Ids], shown: Sequence[str], chunk: int) -> list[Frame]:
    """Step through the chunks of which a column is drawn: it fills its columns, and its outputs come to the others."""
    columns, kinds = matrix.spec.p * matrix.spec.q, np.where(matrix.kinds == "copy", "input", matrix.kinds)
    number, values = matrix.numbers // chunk, np.array(matrix.values)
    frames = []
    for step in np.unique(number).tolist():
        now, done = number == step, np.flatnonzero(number <= step).tolist()
        cells, outputs = ids["matrix"][:, now].ravel().tolist(), ids["product"][0]
        first, last = step * chunk, min(columns, (step + 1) * chunk)
        held = count_text(last - first, "column"), bytes_text(ITEM * chunk_size(matrix.spec, last - first))
        texts = [*values[:, now].ravel().tolist(), *(shown[at] for at in done), held[1]]
        written = [*cells, *outputs[done].tolist(), int(ids["memory"][-1, 0])]
        frames.append(
            Frame(
                f"chunk {step + 1} of {-(-columns // chunk)}: {held[0]} from {first} on, {held[1]}",
                lit=[*cells, *outputs[now].tolist()],
                values=dict(zip(written, texts, strict=True)),
                kinds=dict(zip(cells, kinds[:, now].ravel().tolist(), strict=True)),
            )
        )
    return frames
