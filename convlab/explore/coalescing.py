"""Explore what a warp's requests to memory cost: lanes, addresses, and the sectors that move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from convlab.executors.run import Run
from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec, LayoutSpec
from convlab.views.coalescing import CoalescingView, picture
from convlab.views.requests import Request, requests
from convlab.views.traced import plan_of, trace_launch

__all__ = ["coalescing"]

_HEIGHT = 64  # of the input: enough for a whole warp at every width and stride


class _Kernel(NamedTuple):
    """A kernel to choose: in words, the controls that mean something to it, and its spec for their values."""

    words: str
    uses: frozenset[str]
    spec: Callable[[Mapping[str, int]], Any]


def _conv(values: Mapping[str, int]) -> ConvSpec:
    sizes = {"n": 1, "c": values["c"], "h": _HEIGHT, "w": values["w"], "k": values["k"], "r": 3, "s": 3}
    step = values["dilation"]
    return ConvSpec(**sizes, stride=values["stride"], padding=step, dilation=step)


def _layout(values: Mapping[str, int]) -> LayoutSpec:
    return LayoutSpec(n=1, c=values["c"], h=_HEIGHT, w=values["w"])


_STEPS = frozenset({"stride", "dilation"})
_KERNELS = {
    "naive": _Kernel("naive: lanes along a row of pixels", _STEPS, _conv),
    "naive_nhwc": _Kernel("naive_nhwc: lanes along the filters", _STEPS | {"k"}, _conv),
    "tiled": _Kernel("tiled: a warp loads rows of a tile", _STEPS, _conv),
    "layout_naive": _Kernel("layout_naive: NCHW to NHWC, element by element", frozenset(), _layout),
    "layout_transform": _Kernel("layout_transform: NCHW to NHWC through a tile", frozenset(), _layout),
}

_REACH = {"k": (1, 32), "stride": (1, 4), "dilation": (1, 3)}  # of the controls that not every kernel uses
_CONTROLS: dict[str, Control] = {
    "kernel": Choice("Kernel", {name: kernel.words for name, kernel in _KERNELS.items()}),
    "w": Range("Input width W", 8, 48),
    "c": Range("Channels C", 1, 8),
    "k": Range("Filters K", *_REACH["k"]),
    "stride": Range("Stride", *_REACH["stride"]),
    "dilation": Range("Dilation", *_REACH["dilation"]),
    "request": Range("Request (0: all)", 0, 145),
}


def coalescing(
    kernel: str = "naive",
    w: int = 32,
    c: int = 2,
    k: int = 16,
    stride: int = 1,
    dilation: int = 1,
    request: int = 0,
) -> Explorer:
    """Explore the requests of a kernel's first warp, with controls for the kernel, the sizes and the request.

    >>> explorer = coalescing("layout_naive", c=8, request=2)
    >>> explorer.view.sectors, explorer.view.wasted
    ((32,), 896)
    >>> explorer.controls["kernel"].value = "layout_transform"
    >>> explorer.view.sectors, explorer.view.wasted
    ((1,), 0)

    Parameters: where the controls stand at first: ``kernel`` is a rung of the ladder, ``w``, ``c`` and ``k`` are the
    sizes of a convolution by 3 × 3 (64 rows high, padded), ``request`` is the one to show, counted from 1, or 0 for all
    as steps. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"kernel": kernel, "w": w, "c": c, "k": k, "stride": stride, "dilation": dilation, "request": request}
    instead = "views.coalescing(…) draws every run."
    return Explorer("explore.coalescing", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    uses = _KERNELS[values["kernel"]].uses
    reach = {name: each if name in uses else None for name, each in _REACH.items()}
    return {**reach, "request": (0, len(_first_warp(**_sizes(values))[1]))}


def _sizes(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the trace depends on: the values that mean something to the kernel, the least for the others."""
    uses = _KERNELS[values["kernel"]].uses
    free = {name: values[name] if name in uses else 1 for name in _REACH}
    return {"kernel": values["kernel"], "w": values["w"], "c": values["c"], **free}


@lru_cache(maxsize=96)  # more than the states that a reader goes back to
def _first_warp(kernel: str, **values: int) -> tuple[Run, list[Request]]:
    """Run the first block of a kernel, and list what its first warp asked for."""
    spec = _KERNELS[kernel].spec(values)
    (step,) = plan_of(kernel, spec).launches
    run = trace_launch(kernel, spec, replace(step, grid=(1, 1, 1)), (0, 0))
    return run, requests(run.traces[0])


def _draw(request: int, **values: Any) -> CoalescingView:
    run, everything = _first_warp(**_sizes(values))
    return picture(everything, run, request)
