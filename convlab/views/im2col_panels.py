"""The panels of an im2col picture: input, column matrix, weights, product, and the memory they take."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from convlab.spec import ConvSpec
from convlab.views.column_matrix import ColumnMatrix, size, value_text
from convlab.views.grid import Panel
from convlab.views.samples import Array, numbers
from convlab.views.words import bytes_text, count_text

__all__ = ["ITEM", "chunk_size", "input_panel", "matrix_panel", "memory_panel", "product_panel", "weights_panel"]

ITEM = 4  # bytes of a float32
_BAR_CELLS = 7  # the length of a bar, in its heights


def input_panel(name: str, matrix: ColumnMatrix) -> Panel:
    """Draw the padded input, its channels one below the other."""
    (rows, cols), channels = matrix.sides, matrix.channels
    c, i, j = np.indices((channels, rows.inputs, cols.inputs))
    h, w = rows.sources[i], cols.sources[j]
    pixels = matrix.pixels(matrix.first + c, h.clip(0), w.clip(0)).ravel().tolist()
    values = [value_text(value) for value in pixels]
    real = (np.minimum(h, w) >= 0).ravel().tolist()
    places = [f"c={matrix.first + c}, h={h}, w={w}" for c in range(channels) for h in rows.index for w in cols.index]
    plane = f"{matrix.spec.h} × {matrix.spec.w}"
    return Panel(
        name="input",
        title=f"Input {name}",
        subtitle=f"{channels} channels of {plane}" if channels > 1 else plane,
        rows=channels * rows.inputs,
        cols=cols.inputs,
        labels=[
            f"x[{place}] = {value}" if is_real else f"padding at {place}, counts as 0"
            for place, value, is_real in zip(places, values, real, strict=True)
        ],
        values=[value if is_real else "" for value, is_real in zip(values, real, strict=True)],
        kinds=["input" if is_real else "padding" for is_real in real],
        row_axis="H",
        col_axis="W",
        row_index=channels * rows.index,
        col_index=cols.index,
        row_lines=range(rows.inputs, channels * rows.inputs, rows.inputs),
    )


def matrix_panel(matrix: ColumnMatrix, whole: bool) -> Panel:
    """Draw the column matrix; where it never exists as a whole, its cells are empty until a step fills them."""
    rows, columns = matrix.shape
    many = matrix.spec.weight_shape[1] > 1
    taps = matrix.taps.T.tolist()
    cells = range(rows * columns)
    return Panel(
        name="matrix",
        title="Column matrix",
        subtitle=f"{matrix.spec.gemm_shape.gemm_k:,} × {matrix.spec.p * matrix.spec.q:,}, a column for each window",
        rows=rows,
        cols=columns,
        labels=_matrix_labels(matrix),
        values=[value for row in matrix.values for value in row] if whole else ["" for _ in cells],
        kinds=matrix.kinds.ravel().tolist() if whole else ["idle" for _ in cells],
        row_axis="c,r,s" if many else "r,s",
        col_axis="P·Q",
        row_index=[f"{matrix.first + c},{r},{s}" if many else f"{r},{s}" for c, r, s in taps],
        col_index=matrix.index,
        row_lines=(np.flatnonzero(np.diff(matrix.taps[0])) + 1).tolist(),
        col_lines=(np.flatnonzero(np.diff(matrix.outputs[0])) + 1).tolist(),
        operator="→",
    )


def _matrix_labels(matrix: ColumnMatrix) -> list[str]:
    taps, outputs, (h, w) = matrix.taps.T.tolist(), matrix.outputs.T.tolist(), matrix.sources
    words = {"input": "x[c={0}, h={1}, w={2}] = {3}", "copy": "x[c={0}, h={1}, w={2}] = {3}, a copy"}
    words["padding"] = "0 of the padding"
    return [
        f"Row c={matrix.first + c}, r={r}, s={s}, column p={p}, q={q}: "
        + words[matrix.kinds[i, j]].format(matrix.first + c, h[i, j], w[i, j], matrix.values[i][j])
        for i, (c, r, s) in enumerate(taps)
        for j, (p, q) in enumerate(outputs)
    ]


def weights_panel(name: str, matrix: ColumnMatrix, weights: Array) -> Panel:
    """Draw the filter as one row."""
    values = numbers(weights[tuple(matrix.taps)])
    return Panel(
        name="weights",
        title=f"Weights {name}",
        subtitle=f"1 × {matrix.spec.gemm_shape.gemm_k:,}, as a row",
        rows=1,
        cols=len(values),
        labels=[f"w[c={c}, r={r}, s={s}] = {v}" for (c, r, s), v in zip(matrix.taps.T, values, strict=True)],
        values=values,
        kinds="filter",
        col_lines=(np.flatnonzero(np.diff(matrix.taps[0])) + 1).tolist(),
        line=1,
    )


def product_panel(name: str, matrix: ColumnMatrix, shown: Sequence[str], said: Sequence[str]) -> Panel:
    """Draw the product as one row: what its cells show, and what their labels say."""
    spec = matrix.spec
    return Panel(
        name="product",
        title=f"{name} = weights · matrix",
        subtitle=f"1 × {spec.p * spec.q:,}, the {spec.p} × {spec.q} outputs in order",
        rows=1,
        cols=len(shown),
        labels=[f"y[p={p}, q={q}] = {total}" for (p, q), total in zip(matrix.outputs.T, said, strict=True)],
        values=shown,
        kinds="output",
        col_index=matrix.index,
        col_lines=(np.flatnonzero(np.diff(matrix.outputs[0])) + 1).tolist(),
        line=1,
    )


def memory_panel(spec: ConvSpec, chunk: int | None) -> Panel:
    """Draw the bytes of the tensors, of all images and groups, as bars; the last is a chunk's, if there is one."""
    values, matrix = prod(spec.input_shape), size(spec)
    sizes = {"input": values, "matrix": matrix}
    if chunk:
        sizes["chunk"] = chunk_size(spec, min(chunk, spec.p * spec.q))
    largest = max(sizes.values())
    return Panel(
        name="memory",
        title="Memory",
        subtitle=f"matrix: {matrix / values:.3g} × input",
        rows=len(sizes),
        cols=1,
        labels=[
            f"{name}: {count_text(each, 'value')}, {bytes_text(ITEM * each)} as float32" for name, each in sizes.items()
        ],
        values=[bytes_text(ITEM * each) for each in sizes.values()],
        kinds="input",
        bars=[each / largest for each in sizes.values()],
        row_index=[*sizes],
        cell_width=_BAR_CELLS,
    )


def chunk_size(spec: ConvSpec, columns: int) -> int:
    """Count the values of so many columns, of all groups: C·R·S each."""
    return columns * spec.c * spec.r * spec.s
