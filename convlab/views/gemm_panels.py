"""The panels of an implicit GEMM picture, and the part of a block's tiles that they draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from convlab.kernels.method import Launch
from convlab.spec import ConvSpec
from convlab.views.grid import Panel
from convlab.views.samples import check_index
from convlab.views.stages import Element, Stage, elements, stages
from convlab.views.traced import plan_of, trace_method

__all__ = ["Part", "filters_panel", "matrix_panel", "output_panel", "tensor_panel"]

COLUMNS, FILTERS = 16, 4  # of a block that are drawn
_LANES = 32
_WHOLE = {"N·H": 24, "C·W": 40, "(C/G)·R·S": 40}  # the most that is drawn


class Block(NamedTuple):
    """What a trace says of a block: what each warp loads for each tile, and the warp and the lane of each output."""

    stages: list[list[Stage]]
    stores: Mapping[Element, tuple[int, int]]


@lru_cache(maxsize=96)  # more than the states that a reader goes back to
def _traced(spec: ConvSpec, block: int) -> Block:
    traces = trace_method("implicit_gemm", spec, (block, None)).traces
    shapes = {"x": spec.input_shape, "w": spec.weight_shape}
    stores = {
        element: (trace.warp, lane)
        for trace in traces
        for step in trace.steps
        for access in step.accesses
        if access.name == "y" and access.action == "store"
        for lane, element in elements(access, spec.output_shape)
    }
    return Block([stages(trace, "Bs", shapes) for trace in traces], stores)


@dataclass(frozen=True, eq=False)
class Part:
    """The columns and filters of one block that are drawn, and what a trace says of them."""

    spec: ConvSpec
    block: int
    part: int

    def __post_init__(self) -> None:
        spec, grid = self.spec, self.launch.grid
        sizes = zip(_WHOLE.items(), (spec.n * spec.h, spec.c * spec.w, spec.gemm_shape.gemm_k), strict=True)
        for (letters, most), size in sizes:
            if size > most:
                raise ValueError(
                    f"{letters} is {size}, and a picture has room for {most}.\n  In: {spec}\n"
                    "  Fix: draw a smaller convolution; the kernel does the same with it."
                )
        check_index(spec, {"block": (self.block, grid[0] * grid[1] * grid[2])})
        check_index(spec, {"part": (self.part, -(-self._filled // COLUMNS))})

    @cached_property
    def launch(self) -> Launch:
        """How the ladder launches the kernel."""
        return plan_of("implicit_gemm", self.spec).launches[-1]

    @property
    def width(self) -> int:
        """The columns of a block's tile: each of its threads fills one."""
        return self.launch.block[0]

    @property
    def first(self) -> int:
        """The first column of the block's tile."""
        return self.block % self.launch.grid[0] * self.width

    @cached_property
    def _filled(self) -> int:
        """How many columns of the tile there are in the matrix."""
        return min(self.width, self.spec.gemm_shape.gemm_n - self.first)

    @cached_property
    def threads(self) -> range:
        """The threads that fill the columns drawn."""
        return range(self.part * COLUMNS, min(self._filled, (self.part + 1) * COLUMNS))

    @cached_property
    def columns(self) -> range:
        """The columns drawn, by their numbers in the matrix."""
        return range(self.first + self.threads.start, self.first + self.threads.stop)

    @cached_property
    def channel(self) -> int:
        """The first channel of the block's group."""
        group = self.block // (self.launch.grid[0] * self.launch.grid[1])
        return group * (self.spec.c // self.spec.groups)

    @property
    def _block(self) -> Block:
        return _traced(self.spec, self.block)

    @property
    def steps(self) -> list[Stage]:
        """What the warp that fills the columns drawn loads for each tile."""
        return self._block.stages[self.threads.start // _LANES]

    def weights_of(self, step: int) -> list[tuple[int, int]]:
        """The row and the column, as drawn, of the weights that the block loads in a step."""
        loads = [element for each in self._block.stages for _, element in each[step].loads.get("w", [])]
        taps = self.spec.weight_shape[1:]
        return sorted(
            (self.filters.index(k), int(np.ravel_multi_index(tap, taps))) for k, *tap in loads if k in self.filters
        )

    @cached_property
    def rows_of_tile(self) -> int:
        """The rows of a tile."""
        return self.steps[0].rows

    def rows_of(self, step: int) -> range:
        """The rows of the matrix that a step makes."""
        first = step * self.rows_of_tile
        return range(first, min(self.spec.gemm_shape.gemm_k, first + self.rows_of_tile))

    @cached_property
    def sources(self) -> Mapping[tuple[int, int], Element]:
        """The pixel n, c, h, w that is loaded for each row and column drawn; no other element is loaded."""
        lanes = {thread % _LANES: at for at, thread in enumerate(self.threads)}
        found = {}
        for stage in self.steps:
            for lane, pixel in stage.loads.get("x", []):
                if lane in lanes:
                    found[self._row(pixel, self.columns[lanes[lane]]), lanes[lane]] = pixel
        return found

    def _row(self, pixel: Element, column: int) -> int:
        """The row of the matrix that holds a pixel in a column."""
        (_, c, h, w), (_, p, q), spec = pixel, self.output(column), self.spec
        top, _, left, _ = spec.padding
        r = (h + top - p * spec.stride[0]) // spec.dilation[0]
        s = (w + left - q * spec.stride[1]) // spec.dilation[1]
        return ((c - self.channel) * spec.r + r) * spec.s + s

    @cached_property
    def _plane(self) -> tuple[int, int]:
        """The outputs of an image, and those of a row of it."""
        return self.spec.p * self.spec.q, self.spec.q

    def output(self, column: int) -> tuple[int, int, int]:
        """The n, p, q of a column of the matrix."""
        plane, across = self._plane
        image, pixel = divmod(column, plane)
        return image, *divmod(pixel, across)

    def tap(self, row: int) -> tuple[int, int, int]:
        """The c, r, s of a row of the matrix, with c counted through all channels."""
        c, tap = divmod(row, self.spec.r * self.spec.s)
        return self.channel + c, *divmod(tap, self.spec.s)

    def tap_words(self, row: int) -> tuple[str, str, str]:
        """The divisions that take a row apart."""
        (c, r, s), taps, across = self.tap(row), self.spec.r * self.spec.s, self.spec.s
        before = f"{self.channel} + " if self.channel else ""
        return (
            f"c = {before}{row} // {taps} = {c}",
            f"r = {row} % {taps} // {across} = {r}",
            f"s = {row} % {across} = {s}",
        )

    def output_words(self, column: int) -> tuple[str, str, str]:
        """The divisions that take a column apart."""
        (n, p, q), (plane, across) = self.output(column), self._plane
        return (
            f"n = {column} // {plane} = {n}",
            f"p = {column} % {plane} // {across} = {p}",
            f"q = {column} % {across} = {q}",
        )

    @property
    def stores(self) -> Mapping[Element, tuple[int, int]]:
        """The warp and the lane that store each output n, k, p, q of the block."""
        return self._block.stores

    @cached_property
    def filters(self) -> list[int]:
        """The filters drawn: the first that the block computes."""
        return sorted({k for _, k, _, _ in self.stores})[:FILTERS]

    def pixel_cell(self, pixel: Element) -> tuple[int, int]:
        """Where a pixel is drawn: images one below the other, channels side by side."""
        n, c, h, w = pixel
        return n * self.spec.h + h, c * self.spec.w + w


def tensor_panel(drawn: Part) -> Panel:
    """Draw the whole input: images one below the other, channels side by side."""
    spec = drawn.spec
    rows, cols = spec.n * spec.h, spec.c * spec.w
    cells = [(i // spec.h, j // spec.w, i % spec.h, j % spec.w) for i in range(rows) for j in range(cols)]
    return Panel(
        name="input",
        title="Input x, in global memory",
        subtitle=f"N × C × H × W = {spec.n} × {spec.c} × {spec.h} × {spec.w}",
        rows=rows,
        cols=cols,
        labels=[f"x[n={n}, c={c}, h={h}, w={w}]" for n, c, h, w in cells],
        values=[f"{h}{w}" for _, _, h, w in cells],
        kinds="input",
        row_axis="n, h",
        col_axis="c, w",
        row_index=[str(i % spec.h) for i in range(rows)],
        col_index=[str(j % spec.w) for j in range(cols)],
        row_lines=list(range(spec.h, rows, spec.h)),
        col_lines=list(range(spec.w, cols, spec.w)),
    )


def matrix_panel(drawn: Part) -> Panel:
    """Draw the columns of the matrix: nothing of it is there until a step makes it."""
    rows, columns = drawn.spec.gemm_shape.gemm_k, drawn.columns
    row_words = [f"gemm_k = {row}: {', '.join(drawn.tap_words(row))}" for row in range(rows)]
    column_words = [f"gemm_n = {column}: {', '.join(drawn.output_words(column))}" for column in columns]
    return Panel(
        name="matrix",
        title="X_col, never stored",
        subtitle=f"gemm_k × gemm_n: tiles of {drawn.rows_of_tile} × {drawn.width}",
        rows=rows,
        cols=len(columns),
        labels=[
            f"{row_word}; {column_word}; {_source(drawn, row, at)}"
            for row, row_word in enumerate(row_words)
            for at, column_word in enumerate(column_words)
        ],
        kinds="idle",
        row_axis="c,r,s",
        row_index=[",".join(map(str, drawn.tap(row))) for row in range(rows)],
        col_index=[str(column) for column in columns],
        row_lines=list(range(drawn.rows_of_tile, rows, drawn.rows_of_tile)),
        operator="→",
    )


def _source(drawn: Part, row: int, at: int) -> str:
    if (row, at) not in drawn.sources:
        return "padding, nothing is loaded"
    return "x[n={}, c={}, h={}, w={}]".format(*drawn.sources[row, at])


def filters_panel(drawn: Part) -> Panel:
    """Draw the weights of the filters drawn, a row each."""
    rows, filters = drawn.spec.gemm_shape.gemm_k, drawn.filters
    return Panel(
        name="weights",
        title="Weights w",
        subtitle=f"gemm_m × gemm_k: tiles of {drawn.rows_of_tile} columns",
        rows=len(filters),
        cols=rows,
        labels=[
            "w[k={}, c={}, r={}, s={}]".format(k, drawn.tap(row)[0] - drawn.channel, *drawn.tap(row)[1:])
            for k in filters
            for row in range(rows)
        ],
        kinds="filter",
        row_axis="k",
        row_index=[str(k) for k in filters],
        col_index=[str(row) for row in range(rows)],
        col_lines=list(range(drawn.rows_of_tile, rows, drawn.rows_of_tile)),
        line=1,
    )


def output_panel(drawn: Part) -> Panel:
    """Draw the outputs, and who keeps their sums."""
    columns = [drawn.output(column) for column in drawn.columns]
    return Panel(
        name="output",
        title="Output y, sums in registers",
        subtitle="gemm_m × gemm_n",
        rows=len(drawn.filters),
        cols=len(columns),
        labels=[
            f"y[n={n}, k={k}, p={p}, q={q}], in a register of warp {{}}, lane {{}}".format(*drawn.stores[n, k, p, q])
            for k in drawn.filters
            for n, p, q in columns
        ],
        kinds="output",
        row_axis="k",
        row_index=[str(k) for k in drawn.filters],
        col_index=[str(column) for column in drawn.columns],
        line=1,
    )
