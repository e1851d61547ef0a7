"""Winograd's F(2×2, 3×3): input tile and filter transformed, multiplied place by place, and transformed back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.winograd import Work, transforms
from convlab.spec import ConvSpec
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, number_text, pairs
from convlab.views.samples import Array, Pixels, check_index, filter_of, image
from convlab.views.view import View

__all__ = ["WinogradView", "winograd"]

_M, _A = 2, 4  # outputs and inputs of a tile, along a side
_TILES = 4  # drawn along a side
_F = transforms(_M, 3)
_AT, _G, _BT = _F.arrays()
_WORK = _F.work()


@dataclass(frozen=True, eq=False, kw_only=True)
class WinogradView(View):
    """The picture of a tile: its ``work``, and the ``multiplications`` of a whole plane, and those of the definition.

    A plane is all outputs of one image and filter, of one channel.
    """

    work: Work
    multiplications: tuple[int, int]


@dataclass(frozen=True)
class _Side:
    """The tiles along one axis: how many, which ones are drawn, and which of them is looked at."""

    size: int
    before: int
    outputs: int
    tile: int

    @property
    def tiles(self) -> int:
        """All tiles; the last one may reach beyond the outputs."""
        return -(-self.outputs // _M)

    @property
    def drawn(self) -> int:
        """How many tiles are drawn."""
        return min(_TILES, self.tiles)

    @property
    def first(self) -> int:
        """The first tile drawn: so that the one looked at is among them, with one before it."""
        return max(0, min(self.tile - 1, self.tiles - self.drawn))

    @property
    def inputs(self) -> Ids:
        """The index of each input row drawn, negative or too large in the padding."""
        return np.arange(_M * self.drawn + 2) + _M * self.first - self.before

    @property
    def places(self) -> Ids:
        """The index of each output row drawn, too large beyond the image."""
        return np.arange(_M * self.drawn) + _M * self.first

    @property
    def here(self) -> slice:
        """Where the tile's inputs lie among those drawn."""
        return slice(_M * (self.tile - self.first), _M * (self.tile - self.first) + _A)


def winograd(
    spec: ConvSpec,
    tile: tuple[int, int] = (0, 0),
    n: int = 0,
    c: int = 0,
    k: int = 0,
    x: npt.ArrayLike | None = None,
    w: npt.ArrayLike | None = None,
) -> WinogradView:
    """Show how F(2×2, 3×3) makes four outputs of a 3×3 filter with 16 multiplications, where the definition takes 36.

    >>> view = winograd(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=3, padding=1), tile=(1, 0))
    >>> [(panel.name, panel.rows, panel.cols) for panel in view.panels if panel.name in ("input", "V", "M", "output")]
    [('input', 8, 8), ('V', 4, 4), ('M', 4, 4), ('output', 6, 6)]
    >>> view.multiplications
    (144, 270)

    Parameters: ``tile``, its row and column among the tiles; ``n`` is the image, ``k`` the filter and ``c`` the channel
    of that filter which are drawn; ``x`` of shape (N, C, H, W) and ``w`` of shape (K, C/G, 3, 3) are the values, small
    whole numbers where None. Raises ``ValueError`` for other filters than 3×3, strides and dilations, for an index that
    is not there, and for arrays of another shape. Source: Lavin and Gray, "Fast algorithms for convolutional neural
    networks" (2015), section 4.1.
    """
    if (spec.r, spec.s, *spec.stride, *spec.dilation) != (3, 3, 1, 1, 1, 1):
        fix = "Choose a 3×3 filter with stride 1 and dilation 1, or views.im2col for any"
        raise ValueError(f"F(2×2, 3×3) has 3×3 filters with stride 1 and dilation 1.\n  In: {spec}\n  Fix: {fix}.")
    channels = spec.c // spec.groups
    rows, cols = (
        _Side(*each) for each in zip((spec.h, spec.w), spec.padding[::2], (spec.p, spec.q), tile, strict=True)
    )
    counts = {"tile row": (tile[0], rows.tiles), "tile column": (tile[1], cols.tiles)}
    check_index(spec, {"n": (n, spec.n), "c": (c, channels), "k": (k, spec.k), **counts})
    channel = k // (spec.k // spec.groups) * channels + c
    d = _padded(image(x, n, spec), channel, rows, cols)
    panels = _panels(d, filter_of(w, k, spec)[c].astype(float), rows, cols, f"{n}, {channel}", f"{k}, {c}")
    ids = cell_ids(panels)
    paid = rows.tiles * cols.tiles * _WORK.products, spec.p * spec.q * 9
    title = f"Winograd F(2×2, 3×3): tile {tile[0]}, {tile[1]} of {rows.tiles} × {cols.tiles}"
    captions = list(_captions(rows, cols, paid, channels))
    sizes = " ".join(f"{panel.title}, {panel.rows} × {panel.cols}." for panel in panels)
    return WinogradView(
        title=title,
        alt=f"{title}. {sizes} {' '.join(captions)}",
        panels=panels,
        links=_links(rows, cols, ids),
        captions=captions,
        legend={"waste": "beyond the output: computed and dropped"},
        frames=list(_stages(rows, cols, ids)),
        work=_WORK,
        multiplications=paid,
    )


def _padded(pixels: Pixels, channel: int, rows: _Side, cols: _Side) -> Array:
    """Take the input that is drawn, zeros in the padding."""
    h, w = rows.inputs, cols.inputs
    real = (h >= 0) & (h < rows.size), (w >= 0) & (w < cols.size)
    values = np.zeros((len(h), len(w)))
    values[np.ix_(*real)] = pixels(np.array(channel), *np.ix_(h[real[0]], w[real[1]]))
    return values


def _outputs(d: Array, u: Array) -> Array:
    """All outputs drawn, by the transforms."""
    tiles = np.lib.stride_tricks.sliding_window_view(d, (_A, _A))[::_M, ::_M]
    y = _AT @ (u * (_BT @ tiles @ _BT.T)) @ _AT.T
    down, across, *_ = y.shape
    plane: Array = y.transpose(0, 2, 1, 3).reshape(_M * down, _M * across)
    return plane


def _panels(d: Array, g: Array, rows: _Side, cols: _Side, x: str, w: str) -> Sequence[Panel]:
    v = _BT @ d[rows.here, cols.here] @ _BT.T
    u = _G @ g @ _G.T
    return (
        _input_panel(x, d, rows, cols),
        _matrix("Bᵀ", _BT, "plain"),
        _matrix("V", v, "input", 2, title="V = Bᵀ d B", subtitle=f"{_WORK.input_additions} additions", operator="→"),
        _matrix(
            "M", u * v, "register", 3, title="M = U ⊙ V", subtitle=f"{_WORK.products} multiplications", operator="⊙"
        ),
        _matrix("filter", g, "filter", title="Filter g", subtitle=f"w[{w}]", line=1),
        _matrix("G", _G, "plain", line=1),
        _matrix("U", u, "filter", 2, title="U = G g Gᵀ", subtitle="once for all tiles", operator="→", line=1),
        _matrix("Aᵀ", _AT, "plain", line=1),
        _output_panel(_outputs(d, u), rows, cols),
    )


def _matrix(name: str, values: Array, kind: str, width: int = 1, title: str = "", **extras: Any) -> Panel:
    """Draw a matrix; in narrow cells halves are written short."""
    texts = [_text(value) for value in values.ravel().tolist()]
    rows, cols = values.shape
    return Panel(
        name=name,
        title=title or name,
        rows=rows,
        cols=cols,
        labels=[f"{name}[{i // cols}, {i % cols}] = {text}" for i, text in enumerate(texts)],
        values=[text.replace("1/2", "½") if width == 1 else text for text in texts],
        kinds=kind,
        cell_width=width,
        **extras,
    )


def _text(value: float) -> str:
    """Write quarters as fractions, which is all that whole numbers become, and others as cells show them."""
    if not (4 * value).is_integer():
        return number_text(value)
    return str(Fraction(value)).replace("-", "−")


def _input_panel(x: str, d: Array, rows: _Side, cols: _Side) -> Panel:
    h, w = rows.inputs.tolist(), cols.inputs.tolist()
    inside = [0 <= i < rows.size and 0 <= j < cols.size for i in h for j in w]
    texts = [_text(value) for value in d.ravel().tolist()]
    tile = np.zeros(d.shape, int)
    tile[rows.here, cols.here] = 1
    index = [f"h={number_text(i)}, w={number_text(j)}" for i in h for j in w]
    return Panel(
        name="input",
        title=f"Input x[{x}], its tile d framed",
        subtitle="tiles of 4 × 4, each 2 after the last",
        rows=len(h),
        cols=len(w),
        labels=[
            f"x[{place}] = {text}" if real else f"padding at {place}, counts as 0"
            for place, text, real in zip(index, texts, inside, strict=True)
        ],
        values=[text if real else "" for text, real in zip(texts, inside, strict=True)],
        kinds=["input" if real else "padding" for real in inside],
        row_axis="H",
        col_axis="W",
        row_index=[number_text(i) for i in h],
        col_index=[number_text(j) for j in w],
        regions=tile.ravel().tolist(),
    )


def _output_panel(y: Array, rows: _Side, cols: _Side) -> Panel:
    p, q = rows.places.tolist(), cols.places.tolist()
    kept = [i < rows.outputs and j < cols.outputs for i in p for j in q]
    texts = [_text(value) for value in y.ravel().tolist()]
    tile = np.zeros(y.shape, int)
    tile[_own(rows), _own(cols)] = 1
    places = [f"y[p={i}, q={j}]" for i in p for j in q]
    return Panel(
        name="output",
        title="Output y = Aᵀ M A",
        subtitle=f"{_WORK.output_additions} additions for 2 × 2",
        rows=len(p),
        cols=len(q),
        labels=[
            f"{place} = {text}" + ("" if real else ", beyond the output")
            for place, text, real in zip(places, texts, kept, strict=True)
        ],
        values=texts,
        kinds=["output" if real else "waste" for real in kept],
        row_axis="P",
        col_axis="Q",
        row_index=[str(i) for i in p],
        col_index=[str(j) for j in q],
        operator="→",
        cell_width=2,
        line=1,
        regions=tile.ravel().tolist(),
    )


def _own(side: _Side) -> slice:
    """Where the tile's outputs lie among those drawn."""
    return slice(side.here.start, side.here.start + _M)


def _links(rows: _Side, cols: _Side, ids: Mapping[str, Ids]) -> Ids:
    """Link the cells of each step with those that they are made of, and each output with all inputs of its tile."""
    tiles = np.lib.stride_tricks.sliding_window_view(ids["input"], (_A, _A))[::_M, ::_M]
    every = ids["output"].reshape(rows.drawn, _M, cols.drawn, _M).transpose(0, 2, 1, 3)
    return join(
        *_transformed(_BT, ids["Bᵀ"], ids["input"][rows.here, cols.here], ids["V"]),
        *_transformed(_G, ids["G"], ids["filter"], ids["U"]),
        *_transformed(_AT, ids["Aᵀ"], ids["M"], ids["output"][_own(rows), _own(cols)]),
        pairs(ids["M"], ids["U"]),
        pairs(ids["M"], ids["V"]),
        pairs(every.reshape(*every.shape[:2], -1, 1), tiles.reshape(*tiles.shape[:2], 1, -1)),
    )


def _transformed(matrix: Array, own: Ids, source: Ids, target: Ids) -> Iterator[Ids]:
    """Link cell i, j of matrix · source · matrixᵀ with what it is made of: factors that are not 0, and their cells."""
    for (i, j), cell in np.ndenumerate(target):
        a, b = np.flatnonzero(matrix[i]), np.flatnonzero(matrix[j])
        yield pairs(cell, source[np.ix_(a, b)])
        yield pairs(cell, np.unique([*own[i, a], *own[j, b]]))


def _stages(rows: _Side, cols: _Side, ids: Mapping[str, Ids]) -> Iterator[Frame]:
    d, y = ids["input"][rows.here, cols.here], ids["output"][_own(rows), _own(cols)]
    v, m, g, u, bt, scale, at = (ids[name] for name in ("V", "M", "filter", "U", "Bᵀ", "G", "Aᵀ"))
    stages = {
        "The tile d: 4 × 4 inputs for 2 × 2 outputs. Neighbouring tiles share two rows or columns.": (d,),
        f"V = Bᵀ d B: only 0 and ±1 in Bᵀ, so {_WORK.input_additions} additions and no multiplication.": (d, bt, v),
        f"U = G g Gᵀ: {_WORK.filter_additions} additions and some halving, once for all tiles of all images.": (
            g,
            scale,
            u,
        ),
        f"M = U ⊙ V: one multiplication for each place, {_WORK.products} in all. Channels are added up here.": (
            u,
            v,
            m,
        ),
        f"y = Aᵀ M A: {_WORK.output_additions} additions give four outputs, the same as by the definition.": (m, at, y),
        f"{_WORK.products} multiplications for what takes 2 · 2 · 3 · 3 = {_WORK.direct_products}.": (d, g, m, y),
    }
    for caption, cells in stages.items():
        yield Frame(caption, lit=[cell for part in cells for cell in part.ravel().tolist()])


def _captions(rows: _Side, cols: _Side, paid: tuple[int, int], channels: int) -> Iterator[str]:
    work, (mine, direct) = _WORK, paid
    yield (
        f"A tile: {work.products} multiplications, by the definition {work.direct_products}. Additions: "
        f"{work.input_additions} for V, which serves all filters, {work.output_additions} for y, once for all channels."
    )
    yield (
        f"All {rows.outputs} × {cols.outputs} outputs: {rows.tiles * cols.tiles} tiles, {mine} multiplications, by the "
        f"definition {direct}: {direct / mine:.2f} times as many."
    )
    if channels > 1:
        yield f"One of {channels} channels is drawn; the products M of all are added up before the last step."
    if rows.drawn * cols.drawn < rows.tiles * cols.tiles:
        yield f"Too large to draw whole: {rows.drawn} × {cols.drawn} tiles are shown."
