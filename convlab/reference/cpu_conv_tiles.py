"""Convolution by register tiles: TM neighbouring pixels of an output row times TN filters, no matrix stored.

A block of output rows has its input rows copied to channels-last order (H, W, C), with zeros for the padding. What one
row of the window meets is one run of S·C numbers there, and the next pixel's run begins stride·C further. The filters
are packed in the same order, TN side by side: so each row of the window is a matrix product for the register tile.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numba import get_num_threads, njit, prange

from convlab.reference.register_tile import TM, TN, register_tile
from convlab.spec import ConvSpec

__all__ = ["Plan", "convolve_on_all_cores", "convolve_on_one_core"]

DEPTH = 192  # of a product: its DEPTH·TN weights, 24 KiB of them, stay in the first-level cache for a block's pixels
PIXELS = 256  # of a block, about: their sums for TN filters take another 32 KiB


class Plan(NamedTuple):
    """The sizes that compiled code needs beside the arrays' own; Numba knows named tuples, but no dataclasses."""

    channels: int  # C/G
    filters: int  # K/G
    groups: int
    down: int  # the strides
    right: int
    down_tap: int  # the dilations
    right_tap: int
    top: int  # the padding
    left: int
    rows: int  # output rows of a block
    blocks: int  # of an image
    tiles: int  # of TM pixels in an output row
    panels: int  # of TN filters in a group
    in_rows: int  # input rows that a block meets, padding included
    in_columns: int  # input columns that its tiles meet
    runs: int  # of numbers side by side that a tap row meets: one, or with dilation one for each tap
    run: int  # numbers in each

    @classmethod
    def of(cls, spec: ConvSpec) -> Self:
        """Give the plan of a convolution.

        >>> plan = Plan.of(ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1))
        >>> plan.rows * plan.blocks, plan.runs * plan.run
        (56, 192)
        """
        channels, filters = spec.c // spec.groups, spec.k // spec.groups
        (down, right), (down_tap, right_tap) = spec.stride, spec.dilation
        tiles = -(-spec.q // TM)
        shared = -(-spec.n * spec.groups * spec.p // (2 * get_num_threads()))  # at least two blocks for each core
        rows = max(1, min(spec.p, shared, PIXELS // (tiles * TM)))
        rows = -(-spec.p // -(-spec.p // rows))  # as few blocks, but of equal size
        runs = 1 if right_tap == 1 else spec.s
        return cls(
            *(channels, filters, spec.groups, down, right, down_tap, right_tap, spec.padding[0], spec.padding[2]),
            *(rows, -(-spec.p // rows), tiles, -(-filters // TN)),
            in_rows=(rows - 1) * down + (spec.r - 1) * down_tap + 1,
            in_columns=(tiles * TM - 1) * right + (spec.s - 1) * right_tap + 1,
            runs=runs,
            run=spec.s * channels // runs,
        )


@njit(cache=True, nogil=True)
def convolve_on_one_core(x: Any, w: Any, bias: Any, y: Any, v: Plan) -> None:
    """Fill ``y`` (N, K, P, Q) from contiguous float32 ``x``, ``w`` and ``bias``, block after block."""
    panels = np.empty((v.groups * v.panels, w.shape[2], w.shape[3], v.channels, TN), np.float32)
    for i in range(len(panels)):
        _pack(w, panels[i], i, v)
    for task in range(x.shape[0] * v.groups * v.blocks):
        _convolve_block(x, panels, bias, y, task, v)


@njit(cache=True, nogil=True, parallel=True)
def convolve_on_all_cores(x: Any, w: Any, bias: Any, y: Any, v: Plan) -> None:
    """Do the same with the panels, then the blocks, shared out to Numba's threads."""
    panels = np.empty((v.groups * v.panels, w.shape[2], w.shape[3], v.channels, TN), np.float32)
    for i in prange(len(panels)):
        _pack(w, panels[i], np.int64(i), v)
    for task in prange(x.shape[0] * v.groups * v.blocks):
        _convolve_block(x, panels, bias, y, np.int64(task), v)


@njit(cache=True, nogil=True)
def _pack(w: Any, panel: Any, i: Any, v: Plan) -> None:
    """Put TN filters of one group side by side, (R, S, C/G, TN), with zeros where the group has no more."""
    first = i // v.panels * v.filters + i % v.panels * TN
    width = min(TN, v.filters - i % v.panels * TN)
    taps = w.shape[2] * w.shape[3]
    filters, packed = w.reshape(w.shape[0], -1), panel.reshape(taps, v.channels, TN)  # (K, C/G·R·S), (R·S, C/G, TN)
    packed[:, :, width:] = 0  # their sums are dropped, but leftovers too small for a normal float would be slow
    for j in range(0, width, 8):  # eight at a time: more, 2ⁿ numbers apart, would drive each other out of the cache
        end = min(j + 8, width)
        for c in range(v.channels):
            for tap in range(taps):
                source, target = filters[first + j :, c * taps + tap], packed[tap, c, j:end]
                for k in range(len(target)):
                    target[k] = source[k]


@njit(cache=True, nogil=True)
def _convolve_block(x: Any, panels: Any, bias: Any, y: Any, task: Any, v: Plan) -> None:
    """Compute a block of output rows of one image and one group, for all its filters."""
    n, g, block = task // (v.groups * v.blocks), task // v.blocks % v.groups, task % v.blocks
    rows = y[n, g * v.filters : (g + 1) * v.filters, block * v.rows : (block + 1) * v.rows]  # (K/G, rows, Q)
    biases = bias[g * v.filters : (g + 1) * v.filters]
    channels = x[n, g * v.channels : (g + 1) * v.channels]  # (C/G, H, W)
    pixels = np.empty((v.in_rows, v.in_columns, v.channels), np.float32)
    sums = np.empty((v.rows, v.tiles * TM, TN), np.float32)
    _gather(channels, pixels, block * v.rows * v.down - v.top, v)
    for i in range(v.panels):
        _multiply(pixels.reshape(-1), panels[g * v.panels + i], sums, rows.shape[1], v)
        _store(sums, biases[i * TN :], rows[i * TN : (i + 1) * TN])


@njit(cache=True, nogil=True)
def _gather(channels: Any, pixels: Any, top: int, v: Plan) -> None:
    """Copy the input rows from ``top`` on, channels last, 16 channels at a time: a cache line holds 16."""
    start, end = min(v.left, v.in_columns), min(v.left + channels.shape[2], v.in_columns)
    for i in range(v.in_rows):
        if not 0 <= top + i < channels.shape[1]:
            pixels[i] = 0
            continue
        pixels[i, :start] = 0
        pixels[i, end:] = 0
        for c in range(0, v.channels, 16):
            for column in range(start, end):
                source, target = channels[c:, top + i, column - v.left], pixels[i, column, c : c + 16]
                for j in range(len(target)):
                    target[j] = source[j]


@njit(cache=True, nogil=True)
def _multiply(pixels: Any, panel: Any, sums: Any, rows: int, v: Plan) -> None:
    """Sum up the products of one panel for a block of rows, DEPTH of its weights after the other."""
    sums[:] = 0
    totals, weights = sums.reshape(-1), panel.reshape(-1)
    for r in range(panel.shape[0]):
        for s in range(v.runs):
            for first in range(0, v.run, DEPTH):
                depth = min(DEPTH, v.run - first)
                weight = ((r * panel.shape[1] + s) * v.channels + first) * TN
                for p in range(rows):
                    for tile in range(v.tiles):
                        row, column = p * v.down + r * v.down_tap, tile * TM * v.right + s * v.right_tap
                        pixel = (row * v.in_columns + column) * v.channels + first
                        total, step = (p * v.tiles + tile) * TM * TN, v.right * v.channels
                        register_tile(totals, total, pixels, pixel, step, weights, weight, depth)  # type: ignore[call-arg]


@njit(cache=True, nogil=True)
def _store(sums: Any, bias: Any, rows: Any) -> None:
    """Transpose the sums (rows, Q, TN) to the output (TN, rows, Q), and add the bias."""
    for k in range(rows.shape[0]):
        for p in range(rows.shape[1]):
            source, target = sums[p, :, k], rows[k, p]  # (Q and beyond,), (Q,)
            for q in range(len(target)):
                target[q] = source[q] + bias[k]
