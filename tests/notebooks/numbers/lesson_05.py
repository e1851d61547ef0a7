"""The numbers in the prose of lesson 05."""

from __future__ import annotations

import nbformat
import numpy as np

from convlab import course
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.halo import halo, wavefronts
from convlab.perf.gpus import gpu
from convlab.spec import ConvSpec

from .rule import Table

__all__ = ["NUMBERS"]

LAYER = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
TIMED = ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)
A100 = gpu("A100")
WARP = BANKS = A100.threads_per_warp
B = 16
THREADS = B * B
SECTOR, LINE = 32, 128  # bytes
TILE = halo((B, B), (1, 1), (3, 3))
WIDE = halo((8, 32), (1, 1), (3, 3))
QUESTION = halo((8, 32), (1, 1), (5, 5))
FREE = [pitch for pitch in range(B, 96) if wavefronts(pitch, B) == 1]  # 16, 48, 80
NARROW = [pitch for pitch in range(8, 48) if wavefronts(pitch, 8) == 1]  # 8, 24, 40
RESIDENT = A100.warps_per_sm * WARP
BLOCKS = RESIDENT // THREADS


def corner(size: int) -> float:
    """Pairs of an output and a pixel that it needs, at a corner of the image, along both axes."""
    return float((3 * size - 1) ** 2)


def sectors_with_lanes_down_a_column() -> float:
    """Sectors of the input that the kernel loads once its loading loops take x and y for each other."""
    book = nbformat.read(course.root() / course.lesson("05"), as_version=4)
    (source,) = (cell.source.partition("\n")[2] for cell in book.cells if cell.id == "kernel")
    for index, mine, other in (("i", "y", "x"), ("j", "x", "y")):
        assert source.count(f"int {index} = threadIdx.{mine};") == 1
        source = source.replace(f"int {index} = threadIdx.{mine};", f"int {index} = threadIdx.{other};")
    x, w, y = (np.ones(shape, np.float32) for shape in (LAYER.input_shape, LAYER.weight_shape, LAYER.output_shape))
    arguments = [x, w, y, conv_struct(LAYER), TILE.cols]
    shared = 4 * TILE.rows * TILE.cols
    kernel = compile(source).kernels["conv"]
    run = launch(kernel, (2, 2, LAYER.k), (B, B), arguments, shared=shared, device="emulator")
    return float(run.arrays["x"].sectors_global_load)


NUMBERS: Table = {
    "again": {"16": LAYER.c, "32": LAYER.h},
    "again-explain": {"16": B, "144": 9 * LAYER.k, "18": TILE.cols},
    "load-explain": {"324": TILE.rows * TILE.cols, "256": THREADS, "18": TILE.cols},
    "tiled-explain": {
        "2304": 9 * THREADS,
        "324": TILE.rows * TILE.cols,
        "7.1": 9 * THREADS / (TILE.rows * TILE.cols),
        "2209": corner(B),
        "17": TILE.rows - 1,
        "289": (TILE.rows - 1) * (TILE.cols - 1),
        "16": B,
        "48": 3 * B,
        "47": 3 * B - 1,
        "7.6": corner(B) / ((TILE.rows - 1) * (TILE.cols - 1)),
    },
    "load-try": {"191,488": sectors_with_lanes_down_a_column},
    "sectors-explain": {"32": WARP, "18": TILE.cols},
    "aligned-explain": {"16": B, "32": SECTOR, "128": LINE},
    "banks": {"32": BANKS, "16": B, "18": TILE.cols, "15": B - 1, "33": TILE.cols + B - 1, "19": TILE.cols + 1},
    "predict-pitch-text": {"19": TILE.cols + 1, "34": TILE.cols + B, "32": BANKS, "18": TILE.cols},
    "banks-explain": {"16": FREE[0], "48": TILE.pitch, "80": FREE[2], "18": TILE.cols, "32": BANKS, "33": BANKS + 1},
    "price-explain": {
        "3456": TILE.bytes,
        "1296": 4 * TILE.rows * TILE.cols,
        "2048": RESIDENT,
        "27": BLOCKS * TILE.bytes / 1024,
        "164": A100.shared_kb,
        "32": WARP,
        "34": WIDE.cols,
    },
    "time-text": {"64": TIMED.c, "56": TIMED.h, "16": TIMED.n},
    "time-explain": {"56": TIMED.q, "16": B},
    "bug-answer": {"16": B, "17": TILE.cols - 1, "15": B - 1, "31": 2 * B - 1},
    "exercise": {
        "32": 32,
        "36": QUESTION.cols,
        "432": QUESTION.rows * QUESTION.cols,
        "256": 8 * 32,
        "1.69": QUESTION.rows * QUESTION.cols / 256,
        "24": NARROW[1],
        "40": NARROW[2],
    },
    "end": {"16": B, "18": TILE.cols, "48": TILE.pitch},
}
