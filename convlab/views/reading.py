"""What the warps of a convolution did, taken from their traces: which outputs they wrote, what they read for these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from convlab.emulator.observers.trace import Trace, TraceAccess
from convlab.spec import ConvSpec
from convlab.views.mapping import MAPPINGS, Block
from convlab.views.traced import letters, trace_launch

__all__ = ["Reading", "Work", "works"]

Numbers = npt.NDArray[np.intp]
_WARP = 32


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One step of a warp: lane ``lanes[i]`` reads pixel ``x[i]`` and weight ``w[i]``, on this line of the kernel."""

    line: int
    lanes: Numbers
    x: Numbers
    w: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """All of a warp: lane ``lanes[i]`` writes output ``y[i]``; a warp that writes none has no readings either.

    Pixels are numbered along (c, h, w), weights along (k, c, r, s), outputs along (k, p, q), each from 0.
    """

    block: int
    warp: int
    line: int
    lanes: Numbers
    y: Numbers
    readings: tuple[Reading, ...]


@lru_cache(maxsize=96)  # more than the states that a reader goes back to
def works(spec: ConvSpec, mapping: str, block: Block) -> tuple[Work, ...]:
    """Run a mapping's kernel for one image, and say what each of its warps did.

    >>> first, *_ = works(ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=3), "line", (32, 1))
    >>> first.y.tolist(), first.readings[1].x[:3].tolist()
    ([0, 1, 2, 3, 4, 5], [1, 2, 3])

    Parameters: ``mapping`` is one of `convlab.views.mapping.MAPPINGS`, ``block`` its threads along x and y. Returns a
    work for each warp of the grid, block by block.
    """
    way = MAPPINGS[mapping]
    run = trace_launch(way.method, spec, way.launch(spec, block))
    axes = letters(way.method, spec)
    shapes = {
        "x": dict(zip("nchw", spec.input_shape, strict=True)),
        "w": dict(zip("kcrs", spec.weight_shape, strict=True)),
        "y": dict(zip("nkpq", spec.output_shape, strict=True)),
    }
    return tuple(_work(trace, axes, shapes) for trace in run.traces)


def _work(trace: Trace, axes: Mapping[str, str], shapes: Mapping[str, Mapping[str, int]]) -> Work:
    found: dict[str, list[tuple[int, TraceAccess]]] = {"x": [], "w": [], "y": []}
    for step in trace.steps:
        for access in step.accesses:
            found[access.name].append((step.line, access))
    numbers = {name: [_numbers(each, axes[name], shapes[name]) for _, each in some] for name, some in found.items()}
    nothing = np.empty(0, np.intp)
    lanes = [np.array(access.lanes) for _, access in found["y"]]
    return Work(
        trace.block,
        trace.warp,
        found["y"][0][0] if lanes else 0,
        np.concatenate([nothing, *lanes]),
        np.concatenate([nothing, *numbers["y"]]),
        tuple(_paired(found, numbers)),
    )


def _numbers(access: TraceAccess, letters: str, sizes: Mapping[str, int]) -> Numbers:
    """Number the elements of an access in the order of the course's own layout."""
    order = [letters.index(letter) for letter in sizes]
    numbers: Numbers = np.ravel_multi_index(tuple(access.index[:, order].T), tuple(sizes.values()))
    return numbers


def _paired(found: Mapping[str, list[tuple[int, TraceAccess]]], numbers: Mapping[str, list[Numbers]]) -> list[Reading]:
    """Give each pixel that a lane reads the weight that it meets: a lane's i-th weight meets its i-th pixel."""
    weights = np.full((len(found["x"]) + 1, _WARP), -1)
    count = np.zeros(_WARP, np.intp)
    for (_, access), number in zip(found["w"], numbers["w"], strict=True):
        lanes = np.array(access.lanes)
        weights[count[lanes], lanes] = number
        count[lanes] += 1
    readings = []
    count[:] = 0
    for (line, access), number in zip(found["x"], numbers["x"], strict=True):
        lanes = np.array(access.lanes)
        readings.append(Reading(line, lanes, number, weights[count[lanes], lanes]))
        count[lanes] += 1
    return readings
