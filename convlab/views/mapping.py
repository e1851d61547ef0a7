"""Three ways to give the outputs of a convolution to threads, each a launch of a kernel that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from convlab.kernels.conv_struct import conv_struct
from convlab.kernels.method import Launch
from convlab.kernels.tiling import ceil_div
from convlab.spec import ConvSpec
from convlab.views.traced import plan_of

__all__ = ["MAPPINGS", "Block", "Way"]

Block = tuple[int, int]  # threads along x and y


class Way(NamedTuple):
    """A way from threads to outputs: in words, whether blocks have a height, the method whose tensors it takes."""

    words: str
    flat: bool
    method: str
    launch: Callable[[ConvSpec, Block], Launch]


def _line(spec: ConvSpec, block: Block) -> Launch:
    return _resized("naive", spec, spec.p * spec.q, block)


def _channels(spec: ConvSpec, block: Block) -> Launch:
    return _resized("naive_nhwc", spec, spec.p * spec.q * spec.k, block)


def _resized(name: str, spec: ConvSpec, outputs: int, block: Block) -> Launch:
    """A rung whose blocks take any number of threads, with as many of them as its outputs then need."""
    (step,) = plan_of(name, spec).launches
    grid = (ceil_div(outputs, block[0]), *step.grid[1:])
    return replace(step, grid=grid, block=(block[0], 1, 1))


def _rectangles(spec: ConvSpec, block: Block) -> Launch:
    grid = (ceil_div(spec.q, block[0]), ceil_div(spec.p, block[1]), spec.k * spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Launch("mappings/naive_2d.cu", "conv_naive_2d", grid, (*block, 1), arguments)


MAPPINGS: Mapping[str, Way] = {
    "line": Way("1-D: pixels one after the other", True, "naive", _line),
    "blocks": Way("2-D: a rectangle of pixels for each block", False, "naive", _rectangles),
    "channels": Way("Channels fastest: all filters of a pixel, then the next", True, "naive_nhwc", _channels),
}
