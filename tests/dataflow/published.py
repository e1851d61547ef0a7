"""What was published of dataflows on AlexNet's CONV layers, with the conditions it was found under.

- ISCA: Chen, Emer and Sze, Eyeriss: a spatial architecture for energy-efficient dataflow for convolutional neural
  networks, ISCA 2016. Its comparison gives every dataflow 256 PEs and the same storage area: 512 bytes of registers for
  a PE of row stationary and 128 KB of buffer, or nearly no registers and 342,289 bytes of buffer for the others; words
  of 2 bytes, batches of 16, costs of 1, 2, 6 and 200. It reports row stationary as 1.4 to 2.5 times as efficient.
- PROGRAM: what that comparison computes, by its formulas: `program` below. They follow the paper's section VI and the
  program in github.com/ominux/eyeriss-dataflow (cnn_dataflows, results/flow_storage_area_comparison.txt). That program
  looks for tiles by chance, and among those within 5 % of the fewest reads of DRAM it takes the largest.
- TOOL: github.com/stanford-mast/nn_dataflow (Gao et al., TETRIS, ASPLOS 2017), whose test test_eyeriss_isca16 holds
  its search against the paper's figure 10: `FIGURE_10`.
- JSSC: Chen, Krishna, Emer and Sze, Eyeriss: an energy-efficient reconfigurable accelerator for deep convolutional
  neural networks, JSSC 52 (2017), table V: 12 × 14 PEs at 200 MHz, batches of 4: `CHIP`, `CHIP_DRAM`.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from convlab.spec import ConvSpec

# Padding is part of the image in the papers' table of shapes.
SHAPES = {
    "CONV1": {"c": 3, "h": 227, "k": 96, "r": 11, "stride": 4},
    "CONV2": {"c": 96, "h": 31, "k": 256, "r": 5, "groups": 2},
    "CONV3": {"c": 256, "h": 15, "k": 384, "r": 3},
    "CONV4": {"c": 384, "h": 15, "k": 384, "r": 3, "groups": 2},
    "CONV5": {"c": 384, "h": 15, "k": 256, "r": 3, "groups": 2},
}
# Energy of multiply-adds, DRAM and registers in 10⁹ reads of a register; batch of 16.
FIGURE_10 = {
    "CONV1": (1.69, 2.46, 6.75),
    "CONV2": (3.58, 2.27, 14.33),
    "CONV3": (2.39, 2.02, 9.57),
    "CONV4": (1.79, 1.57, 7.18),
    "CONV5": (1.20, 1.05, 4.78),
}
# Active PEs, and milliseconds of processing.
CHIP = {"CONV1": (154, 16.5), "CONV2": (135, 39.2), "CONV3": (156, 21.8), "CONV4": (156, 16.0), "CONV5": (156, 10.0)}
CHIP_DRAM = 0.0029  # accesses for each multiply-add, pixels compressed, which saves 1.2 to 1.9 times in a layer
PES, WORD = 256, 2
RS_BUFFER, OTHER_BUFFER = 131072 // WORD, 342289 // WORD


def layer(name, batch):
    sizes = SHAPES[name]
    return ConvSpec(batch, w=sizes["h"], s=sizes["r"], **sizes)


class Parts(NamedTuple):
    """Energy for each multiply-add, by level."""

    dram: float
    buffer: float
    array: float
    register: float
    mac: float = 1.0


def program(dataflow, spec):
    """The paper's energies of a dataflow: its tiles are those with the fewest reads of DRAM, then of the buffer."""
    v = _Sizes(spec)
    dram, buffer, array, register = _FLOWS[dataflow](v)
    return Parts(200 * dram / spec.macs, 6 * buffer / spec.macs, 2 * array / spec.macs, register / spec.macs)


class _Sizes:
    """The paper's letters: C channels and M filters of a group, H and E rows, R taps, U stride; totals of words."""

    def __init__(self, spec):
        self.n, self.c, self.m = spec.n, spec.c // spec.groups, spec.k // spec.groups
        self.h, self.e, self.r, self.u = spec.h, spec.p, spec.r, spec.stride[0]
        self.pixels = spec.n * spec.c * spec.h**2
        self.weights = spec.k * self.c * self.r**2
        self.outputs = spec.n * spec.k * self.e**2
        self.alpha = self.e / self.h

    def rows(self, outputs):
        """Rows of the image under some rows of outputs, and outputs for each."""
        rows = self.u * outputs + self.r - self.u
        return rows, outputs / rows


def _up(a, b):
    return -(-a // b)


def _row_stationary(v):
    tiles = []
    for f, n, m in product(range(1, min(v.e, PES // v.r) + 1), range(1, v.n + 1), range(1, v.m + 1)):
        rows, beta = v.rows(f)
        if n * m * v.e * f + n * v.h * rows <= RS_BUFFER:
            reads = v.weights * _up(v.e, f) * _up(v.n, n) + v.pixels * _up(v.m, m) * v.alpha / beta
            k = min(v.c, (RS_BUFFER - n * m * v.e * f) // (n * v.h * rows))
            tiles.append((reads, n * m * k * f, f, n, m, k))
    fewest = min(tiles)[0]
    _, _, f, n, m, k = max((tile for tile in tiles if tile[0] <= 1.05 * fewest), key=lambda tile: tile[1])
    rows, beta = v.rows(f)
    best = []
    for r, q, p in product(range(1, min(PES // v.r // f, k) + 1), range(1, k + 1), range(1, min(m, 86) + 1)):
        if p * q * v.r + q * v.r + p <= 256:
            t = min(PES // (v.r * f * r), _up(m, p))
            reads = v.pixels * _up(v.m, p * t) * v.alpha / beta
            best.append((reads + 2 * v.outputs * (_up(v.c, q * r) - 1), p, q, r))
    buffer, p, q, r = min(best)
    taps = v.c * v.r**2
    dram = v.pixels * _up(v.m, m) * v.alpha / beta + v.weights * _up(v.n, n) * _up(v.e, f) + v.outputs
    array = v.pixels * _up(v.m, p) * v.r * v.alpha + v.weights * _up(v.n, n) * v.e
    array += v.outputs * (_up(v.c, q) * v.r - _up(v.c, q * r))
    return dram, buffer, array, 2 * v.outputs * taps + 2 * v.outputs * (taps - _up(v.c, q) * v.r)


def _weight_stationary(v):
    """Sums go to the buffer after each row of a filter; pixels and weights come straight from DRAM."""
    square, tiles = PES // v.r**2, []
    for t, e in product(range(1, min(v.m, square) + 1), range(1, v.e + 1)):
        rows, beta = v.rows(e)
        if v.n * v.e**2 * t + square // t * t * (rows - v.r) * (v.r - 1) <= OTHER_BUFFER:
            tiles.append((v.pixels * _up(v.m, t) * v.alpha / beta, t))
    reads, t = min(tiles)
    chains = v.r * _up(v.c, min(square // t, v.c))
    array = 2 * v.outputs * v.c * v.r**2 - v.outputs * chains
    return reads + v.weights + v.outputs, 2 * v.outputs * (chains - 1), array, v.outputs * v.c * v.r**2


def _output_stationary(v):
    """Several filters and several pixels of a row at once, the paper's OS_B."""
    tiles = []
    for f, n in product(range(1, v.e + 1), range(1, v.n + 1)):
        cols, beta = v.rows(f)
        m = min(v.m, (OTHER_BUFFER - n * v.c * v.r * cols) // (v.c * v.r**2))
        if m >= 1 and (p := min(PES // n // f, m)) >= 1:
            reads = v.pixels * _up(v.m, m) * v.alpha / beta * v.r * v.alpha + v.weights
            tiles.append((reads, -n * f * p, f, n, p))
    reads, _, f, n, p = min(tiles)
    buffer = v.pixels * _up(v.m, p) * (v.r * v.alpha) ** 2 + v.weights * _up(v.n, n) * v.e * _up(v.e, f)
    taps = v.c * v.r**2
    return reads + v.outputs, buffer, 2 * v.outputs * taps, 2 * v.outputs * (taps - 1)


_FLOWS = {"row": _row_stationary, "weight": _weight_stationary, "output": _output_stationary}
