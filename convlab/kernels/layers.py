"""The layers on which the rungs of each op are compared: the course's standard layer, and its relatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from convlab.kernels.known import FILTERS, STRIDES
from convlab.kernels.ladder import methods
from convlab.kernels.method import Launch, Method
from convlab.kernels.tiling import TILES
from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

__all__ = ["LAYERS", "TIMED", "launches", "supported"]

_STANDARD = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
_DEPTHWISE = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, groups=16)

# Op → name → spec; a rung that does not support the first is shown on the first that it supports.
LAYERS: Mapping[str, Mapping[str, Any]] = {
    "conv2d": {
        "standard": _STANDARD,
        "pointwise": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=1, s=1),
        "grouped": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, groups=4),
        "depthwise": _DEPTHWISE,
        "dilated": ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=2, dilation=2),
        "wide": ConvSpec(n=1, c=64, h=32, w=32, k=64, r=3, s=3, padding=1),
    },
    "conv_transpose2d": {
        "standard": ConvTransposeSpec(n=1, c=16, h=16, w=16, k=16, r=3, s=3, stride=2, padding=1, output_padding=1),
    },
    "gemm": {"standard": GemmSpec(gemm_m=16, gemm_n=1024, gemm_k=144), "square": GemmSpec(256, 256, 256)},
    "layout": {"standard": LayoutSpec(n=1, c=16, h=32, w=32)},
    "separable": {"standard": SeparableSpec(_DEPTHWISE, k=16)},
    "block": {"standard": BlockSpec(_STANDARD, relu=True, pool=True)},
}

_WIDE_DEPTHWISE = ConvSpec(n=32, c=32, h=112, w=112, k=32, r=3, s=3, padding=1, groups=32)
_TIMED = ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)

# Layers that fill a GPU, of ResNet and MobileNet, on which times mean something; the first that a rung supports is its.
TIMED: Mapping[str, Mapping[str, Any]] = {
    "conv2d": {
        "timed": _TIMED,
        "timed pointwise": ConvSpec(n=16, c=64, h=56, w=56, k=256, r=1, s=1),
        "timed depthwise": _WIDE_DEPTHWISE,
    },
    "conv_transpose2d": {
        "timed": ConvTransposeSpec(n=16, c=128, h=28, w=28, k=64, r=3, s=3, stride=2, padding=1, output_padding=1)
    },
    "gemm": {"timed": GemmSpec(4096, 4096, 4096)},
    "layout": {"timed": LayoutSpec(n=256, c=64, h=56, w=56)},
    "separable": {"timed": SeparableSpec(_WIDE_DEPTHWISE, k=64)},
    "block": {"timed": BlockSpec(_TIMED, relu=True, pool=True)},
}

# Sizes for which plans choose other kernels, other tiles or other macros than for the layers above.
_FILTERS = (1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64)
_KNOWN = [
    ConvSpec(n=1, c=1, h=15, w=14, k=1, r=r, s=s, stride=stride, dilation=dilation)
    for r, s in [(2, 3), *((r, r) for r in FILTERS)]
    for stride, dilation in [(1, 2), *((stride, 1) for stride in STRIDES)]
]
_VARIANTS: Mapping[str, Sequence[Any]] = {
    "conv2d": [
        *_KNOWN,
        *(ConvSpec(n=1, c=channels, h=9, w=8, k=k, r=3, s=3) for channels in (5, 8) for k in _FILTERS),
        *(ConvSpec(n=1, c=4, h=9, w=8, k=k, r=1, s=1) for k in _FILTERS),
        *(ConvSpec(n=1, c=2, h=9, w=8, k=2 * k, r=3, s=3, groups=2) for k in _FILTERS),
        *(ConvSpec(n=1, c=3, h=19, w=18, k=3, r=r, s=r, stride=u, groups=3) for r in (3, 5, 7) for u in (1, 2)),
        *(ConvSpec(n=1, c=64, h=5, w=4, k=k, r=3, s=3) for k in _FILTERS),  # a long sum for few outputs
        *(ConvSpec(n=1, c=32, h=9, w=8, k=k, r=1, s=1) for k in TILES),
        # Many outputs: large tiles.
        *(
            ConvSpec(n=300, c=64, h=33, w=34, k=k, r=r, s=r, stride=u)
            for r, u in ((1, 1), (3, 1), (3, 2))
            for k in TILES
        ),
    ],
    "separable": [
        SeparableSpec(ConvSpec(n=1, c=4, h=19, w=18, k=4, r=r, s=r, stride=u, groups=4), k)
        for r in (3, 5)
        for u in (1, 2)
        for k in _FILTERS
    ],
    "block": [BlockSpec(spec, pool=pool) for spec in _KNOWN for pool in (False, True)],
}


def supported(record: Method, layers: Mapping[str, Mapping[str, Any]] = LAYERS) -> dict[str, Any]:
    """The layers of its op that a method supports."""
    return {name: spec for name, spec in layers[record.op].items() if record.supports(spec) is None}


def launches(variants: bool = True) -> Iterator[tuple[Method, Launch]]:
    """Each kernel that the plans of the ladder launch, once for each set of options; on the layers above, or on all.

    >>> [step.options for record, step in launches() if record.name == "pointwise"]
    [('-DBM=16',), ('-DBM=32',), ('-DBM=64',)]
    """
    seen = set()
    for record in methods():
        for step in _launches_of(record, _VARIANTS.get(record.op, ()) if variants else ()):
            key = step.source, step.entry, step.options
            if key not in seen:
                seen.add(key)
                yield record, step


def _launches_of(record: Method, variants: Sequence[Any]) -> Iterator[Launch]:
    for spec in (*LAYERS[record.op].values(), *variants):
        if record.plan is not None and record.supports(spec) is None:
            yield from record.plan(spec).launches
