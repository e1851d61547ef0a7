"""Halos: the tile of pixels that a block of threads shares, who brings it in which round, and what is loaded again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from convlab.kernels.halo import Halo
from convlab.kernels.halo import halo as halo_of
from convlab.kernels.rungs.tiles import DEFAULT
from convlab.spec import ConvSpec
from convlab.views.block_tiles import BlockTile, block_tiles
from convlab.views.grid import Frame, Ids, Panel, cell_ids, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["HaloView", "halo"]

Booleans = npt.NDArray[np.bool_]

_MOST = 48  # rows or columns of the image: more would be too small to see
_TILES = ((4, 4), (8, 8), (4, 64), (8, 32), (16, 16), (32, 32), (64, 64))


@dataclass(frozen=True, eq=False, kw_only=True)
class HaloView(View):
    """The picture of a block's tile: its ``cells``, the ``own`` ones among them, ``loads`` of pixels in all blocks.

    ``again`` counts those of the loads that another block makes as well, all but the first of each pixel.
    """

    cells: int
    own: int
    loads: int
    again: int

    @property
    def cost(self) -> float:
        """Cells of the tile for each of the block's own: 1 were best."""
        return self.cells / self.own


def halo(spec: ConvSpec, block: int = 0) -> HaloView:
    """Show the tile with halo of one block of `tiled`, as a run's trace tells, and which pixels several blocks load.

    >>> view = halo(ConvSpec(n=1, c=1, h=21, w=20, k=1, r=3, s=3, padding=1))
    >>> view.cells, view.own, round(view.cost, 2), view.loads - view.again
    (324, 256, 1.27, 420)

    Parameters: ``spec`` has at most 48 × 48 pixels; the first channel of the first image is drawn, and what the blocks
    of the first filter load of it; ``block`` is the one whose tile is drawn.

    Raises ``ValueError`` for a larger image, for a spec that `tiled` does not support, and a block that is not there.
    """
    if max(spec.h, spec.w) > _MOST:
        fix = f"draw at most {_MOST} × {_MOST}"
        raise ValueError(f"There is no room for {spec.h} × {spec.w} pixels.\n  In: {spec}\n  Fix: {fix}.")
    tiles = block_tiles(spec)
    if not 0 <= block < len(tiles):
        fix = f"choose one from 0 to {len(tiles) - 1}"
        raise ValueError(f"block={block} is not there.\n  In: {spec}\n  Fix: {fix}.")
    tile = tiles[block]
    own = _own(tile, spec)
    panels = [_image(tiles, tile, own, spec), _tile(tile, own), _shares(spec)]
    ids = cell_ids(panels)
    loads = np.sum([each.loaded.sum() for each in tiles])
    again = int(loads - np.count_nonzero(_counts(tiles, spec)))
    title = f"Halo: {_size(tile.shape)} pixels for {DEFAULT.bp} × {DEFAULT.bq} outputs, block {block} of {len(tiles)}"
    captions = [*_sentences(tile, own), _again(int(loads), again, len(tiles))]
    return HaloView(
        title=title,
        alt=f"{title}. {spec}. {' '.join(captions)}",
        panels=panels,
        links=_links(tile, ids),
        captions=captions,
        legend={"output": "under the block's outputs", "input": "its halo", "padding": "padding: stored as 0"},
        frames=_frames(tile, ids),
        cells=own.size,
        own=int(own.sum()),
        loads=int(loads),
        again=again,
    )


def _own(tile: BlockTile, spec: ConvSpec) -> Booleans:
    """The cells under the middles of the outputs' windows, and those that a stride leaves out in between."""
    own = np.zeros(tile.shape, np.bool_)
    own[_middle(spec, (DEFAULT.bp, DEFAULT.bq))] = True
    return own


def _middle(spec: ConvSpec, outputs: tuple[int, int]) -> tuple[slice, slice]:
    """The rows and columns of a tile that are the outputs' own."""
    sides = zip(outputs, spec.stride, _window(spec), strict=True)
    rows, cols = (slice((span - 1) // 2, (span - 1) // 2 + count * step) for count, step, span in sides)
    return rows, cols


def _window(spec: ConvSpec) -> tuple[int, int]:
    return spec.effective_r, spec.effective_s


def _size(shape: Sequence[int]) -> str:
    return f"{shape[0]} × {shape[1]}"


def _counts(tiles: Sequence[BlockTile], spec: ConvSpec) -> npt.NDArray[np.intp]:
    """How many blocks load each pixel, of shape (H, W)."""
    counts = np.zeros((spec.h, spec.w), np.intp)
    for each in tiles:
        counts[_pixels(each)] += 1
    return counts


def _pixels(tile: BlockTile) -> tuple[Ids, Ids]:
    """The row and the column of each pixel that a block loads."""
    row, col = np.nonzero(tile.loaded)
    return row + tile.top, col + tile.left


def _image(tiles: Sequence[BlockTile], tile: BlockTile, own: Booleans, spec: ConvSpec) -> Panel:
    part = np.zeros((spec.h, spec.w), np.intp)  # 0: not in the tile, 1: its halo, 2: its own
    part[_pixels(tile)] = 1 + own[tile.loaded]
    kinds = np.array(["plain", "input", "output"])
    users: list[list[int]] = [[] for _ in range(spec.h * spec.w)]
    for each in tiles:
        h, w = _pixels(each)
        for place in (h * spec.w + w).tolist():
            users[place].append(each.block)
    return Panel(
        name="input",
        title="Input x[0, 0]",
        subtitle="a number: how many blocks load the pixel",
        rows=spec.h,
        cols=spec.w,
        labels=[f"x[h={i // spec.w}, w={i % spec.w}]: {_users(blocks)}" for i, blocks in enumerate(users)],
        values=[str(len(blocks)) for blocks in users],
        kinds=kinds[part].ravel().tolist(),
        row_axis="H",
        col_axis="W",
        row_index=[str(h) for h in range(spec.h)],
        col_index=[str(w) for w in range(spec.w)],
        regions=part.ravel().tolist(),
    )


def _users(blocks: Sequence[int]) -> str:
    if not blocks:
        return "no block loads it"
    return f"loaded by block{'s' * (len(blocks) > 1)} {' and '.join(map(str, blocks))}"


def _tile(tile: BlockTile, own: Booleans) -> Panel:
    rows, cols = tile.shape
    return Panel(
        name="tile",
        title="The block's tile in shared memory",
        subtitle="a number: the warp that brings the cell",
        rows=rows,
        cols=cols,
        labels=[_label(tile, row, col, own) for row in range(rows) for col in range(cols)],
        values=[str(warp) for warp in tile.warp.ravel().tolist()],
        kinds=[
            ("output" if mine else "input") if loaded else "padding"
            for mine, loaded in zip(own.ravel().tolist(), tile.loaded.ravel().tolist(), strict=True)
        ],
        row_index=[str(row) for row in range(rows)],
        col_index=[str(col) for col in range(cols)],
        regions=own.ravel().tolist(),
    )


def _label(tile: BlockTile, row: int, col: int, own: Booleans) -> str:
    h, w = tile.top + row, tile.left + col
    what = f"x[h={h}, w={w}]" if tile.loaded[row, col] else "padding, 0"
    part = "own" if own[row, col] else "halo"
    who = f"warp {tile.warp[row, col]}, lane {tile.lane[row, col]}, in round {tile.turn[row, col] + 1}"
    return f"tile[{row}][{col}], {part}: {what}, brought by {who}"


def _shares(spec: ConvSpec) -> Panel:
    """What part of a tile is the block's own, for blocks of several sizes: from the sizes alone."""
    tiles = [(outputs, _halo(outputs, spec)) for outputs in _TILES]
    shares = [_share(outputs, tile, spec) for outputs, tile in tiles]
    return Panel(
        name="shares",
        title="Own part",
        subtitle="by block",
        rows=len(tiles),
        cols=1,
        labels=[
            f"{_size(outputs)} outputs need {tile.rows} × {tile.cols} pixels, {1 / share:.2f} for each of their own"
            for (outputs, tile), share in zip(tiles, shares, strict=True)
        ],
        values=[f"{share:.0%}" for share in shares],
        kinds="output",
        row_index=[f"{rows}×{cols}" for rows, cols in _TILES],
        bars=shares,
        cell_width=4,
    )


def _halo(outputs: tuple[int, int], spec: ConvSpec) -> Halo:
    return halo_of(outputs, spec.stride, _window(spec))


def _share(outputs: tuple[int, int], tile: Halo, spec: ConvSpec) -> float:
    rows, cols = _middle(spec, outputs)
    return len(range(tile.rows)[rows]) * len(range(tile.cols)[cols]) / (tile.rows * tile.cols)


def _links(tile: BlockTile, ids: dict[str, Ids]) -> Ids:
    """Link each loaded cell of the tile with its pixel."""
    return pairs(ids["tile"][tile.loaded], ids["input"][_pixels(tile)])


def _frames(tile: BlockTile, ids: dict[str, Ids]) -> list[Frame]:
    rounds = int(tile.turn.max()) + 1
    frames = [Frame(f"The whole tile, brought in {count_text(rounds, 'round')}.")]
    for turn in range(rounds):
        cells = tile.turn == turn
        loaded = cells & tile.loaded
        row, col = np.nonzero(loaded)
        lit = [*ids["tile"][cells].tolist(), *ids["input"][row + tile.top, col + tile.left].tolist()]
        warps = len(np.unique(tile.warp[cells]))
        rest = int(cells.sum() - loaded.sum())
        frames.append(
            Frame(
                f"Round {turn + 1} of {rounds}: {count_text(warps, 'warp')} bring a row each, "
                f"{count_text(int(loaded.sum()), 'pixel')}" + (f" and {rest} zeros of padding." if rest else "."),
                lit=lit,
            )
        )
    return frames


def _sentences(tile: BlockTile, own: Booleans) -> list[str]:
    (rows, cols), loaded = tile.shape, int(tile.loaded.sum())
    down, across = int(own.any(axis=1).sum()), int(own.any(axis=0).sum())
    rest = own.size - loaded
    return [
        f"{rows} · {cols} / ({down} · {across}) = {own.size / own.sum():.2f} cells for each of the block's own. "
        f"Traced: {own.size} cells stored, {loaded} of them loaded" + (f", {rest} padding." if rest else "."),
        "Heavy lines: the block's own pixels, and its halo around them. Bars: the own part at other sizes, computed.",
    ]


def _again(loads: int, again: int, blocks: int) -> str:
    if not again:
        return f"Together, {count_text(blocks, 'block')} load {count_text(loads, 'pixel')}, none of them twice."
    return (
        f"Together, {count_text(blocks, 'block')} load {count_text(loads, 'pixel')}, where {loads - again} would do, "
        "since tiles overlap; each filter's blocks load them anew."
    )
