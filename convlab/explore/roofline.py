"""Explore the roofline: what bounds a layer, before any kernel runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.perf.gpus import GPUS
from convlab.spec import ConvSpec
from convlab.views.figure import Picture
from convlab.views.roofline import ARITHMETIC
from convlab.views.roofline import roofline as draw

__all__ = ["roofline"]

_KINDS = {"standard": "standard", "depthwise": "depthwise: K = C, each filter sees one channel"}
_CONTROLS: dict[str, Control] = {
    "n": Range("Batch N", 1, 256),
    "c": Range("Channels C", 1, 1024),
    "k": Range("Filters K", 1, 1024),
    "h": Range("Height and width", 1, 224),
    "r": Range("Filter R and S", 1, 11),
    "stride": Range("Stride", 1, 4),
    "kind": Choice("Kind", _KINDS),
    "dtype": Choice("Arithmetic", {name: name for name in ARITHMETIC}),
    "gpu": Choice("GPU", {name: name for name in GPUS}),
}


def roofline(
    n: int = 16,
    c: int = 64,
    k: int = 64,
    h: int = 56,
    r: int = 3,
    stride: int = 1,
    kind: str = "standard",
    dtype: str = "float32",
    gpu: str = "A100",
) -> Explorer:
    """Explore what a GPU allows for a layer: its arithmetic, or the bandwidth of its DRAM.

    >>> explorer = roofline(c=32, kind="depthwise")
    >>> "bound by the bandwidth of DRAM" in explorer.view.alt
    True

    Parameters: where the controls stand at first; images and filters are square, and padded so that an output of
    stride 1 keeps their size. Raises ``ValueError`` for a value that its control does not reach.
    """
    sizes = {"n": n, "c": c, "k": k, "h": h, "r": r, "stride": stride}
    initial = sizes | {"kind": kind, "dtype": dtype, "gpu": gpu}
    instead = "views.roofline(spec) draws every other layer."
    return Explorer("explore.roofline", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"k": None if values["kind"] == "depthwise" else (1, 1024)}


def _draw(n: int, c: int, k: int, h: int, r: int, stride: int, kind: str, dtype: str, gpu: str) -> Picture:
    groups, filters = (c, c) if kind == "depthwise" else (1, k)
    spec = ConvSpec(n=n, c=c, h=h, w=h, k=filters, r=r, s=r, stride=stride, padding="same", groups=groups)
    return draw(spec, gpu, dtype)
