"""Tiles with their halo as the blocks of `tiled` bring them to shared memory: who stores what when, from the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from convlab.emulator.observers.trace import Trace
from convlab.kernels.method import Launch
from convlab.spec import ConvSpec
from convlab.views.traced import plan_of, trace_launch

__all__ = ["BlockTile", "block_tiles"]

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BlockTile:
    """The pixels of the first channel that a block brings; each array has the shape (rows, cols) of its tile.

    ``warp`` and ``lane`` store the cell, in the warp's round ``turn``, counted from 0; ``loaded`` says whether they
    load a pixel for it, or store the 0 of padding. The first cell is pixel ``(top, left)``; the block writes the
    outputs from ``first`` on, a pair (p, q).
    """

    block: int
    first: tuple[int, int]
    top: int
    left: int
    warp: Numbers
    lane: Numbers
    turn: Numbers
    loaded: npt.NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self.warp.shape
        return rows, cols


@lru_cache(maxsize=96)  # more than the states that a reader goes back to
def block_tiles(spec: ConvSpec) -> tuple[BlockTile, ...]:
    """Run `tiled` for the first filter of the first image, and say what each block brought of the first channel.

    >>> first, *_ = block_tiles(ConvSpec(n=1, c=1, h=20, w=9, k=1, r=3, s=3, padding=1))
    >>> first.shape, int(first.turn.max()) + 1, first.warp[9].tolist()[:3], int(first.loaded[0].sum())
    ((18, 18), 3, [1, 1, 1], 0)

    Returns a tile for each block of the image. Raises ``ValueError``, with the reason, for a spec that `tiled` does not
    support.
    """
    (step,) = plan_of("tiled", spec).launches
    run = trace_launch("tiled", spec, replace(step, grid=(step.grid[0], 1, 1)))
    traces: list[list[Trace]] = [[] for _ in range(step.grid[0])]
    for trace in run.traces:
        traces[trace.block].append(trace)
    return tuple(_tile(some, spec, step) for some in traces)


def _tile(traces: Sequence[Trace], spec: ConvSpec, step: Launch) -> BlockTile:
    """Put together what the warps of one block did."""
    pitch, before = step.arguments[-1], spec.r * spec.s  # the filter lies before the tile
    stored: dict[int, tuple[int, int, int]] = {}
    pixels, outputs = [np.empty((0, 2), np.intp)], []
    for trace in traces:
        turn = 0
        for access in (access for each in trace.steps for access in each.accesses):
            if access.name == "x":
                pixels.append(access.index[access.index[:, 1] == 0, 2:])
            elif access.name == "y":
                outputs.append(access.index[:, 2:])
            elif access.action == "store" and access.index[0] >= before:
                for lane, place in zip(access.lanes, (access.index - before).tolist(), strict=True):
                    stored.setdefault(place, (trace.warp, lane, turn))  # later channels come to the same places
                turn += 1
    return _placed(stored, np.concatenate(pixels), np.concatenate(outputs).min(axis=0), pitch, spec, traces[0].block)


def _placed(
    stored: dict[int, tuple[int, int, int]], pixels: Numbers, first: Numbers, pitch: int, spec: ConvSpec, block: int
) -> BlockTile:
    row, col = np.divmod(np.array([*stored]), pitch)
    who = np.zeros((3, row.max() + 1, col.max() + 1), np.intp)
    who[:, row, col] = np.array([*stored.values()]).T
    above, _, before, _ = spec.padding
    top, left = first * spec.stride - (above, before)
    loaded = np.zeros(who.shape[1:], np.bool_)
    loaded[pixels[:, 0] - top, pixels[:, 1] - left] = True
    p, q = first.tolist()
    return BlockTile(block, (p, q), int(top), int(left), who[0], who[1], who[2], loaded)
