"""What the rungs of convlab/kernels/rungs/family.py are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

from .specs import specs_for


def _height(rng):
    return int(rng.integers(5, 28))


def _strides(rng):
    return int(rng.integers(1, 3)), int(rng.integers(1, 4))


def _depthwise(count, seed, channels, filters, **fixed):
    supports = method("depthwise").supports
    return specs_for(supports, count, seed, c=channels, groups=channels, k=filters, h=_height, **fixed)


DEPTHWISE = [
    *_depthwise(24, 1, 5, 5, r=3, s=3, stride=_strides, dilation=(1, 2)),
    *_depthwise(16, 2, 3, 6, r=5, s=5, stride=_strides, dilation=1),
    *_depthwise(8, 3, 4, 4, r=3, s=3),  # any stride and dilation
    *_depthwise(16, 4, 2, 6),  # any filter
    ConvSpec(n=2, c=7, h=1, w=1, k=7, r=3, s=3, padding=1, groups=7),
    ConvSpec(n=1, c=1, h=33, w=70, k=7, r=3, s=3, padding=1, stride=(1, 2)),
    ConvSpec(n=2, c=3, h=17, w=2, k=3, r=5, s=5, padding=(2, 3), groups=3),
    ConvSpec(n=1, c=3, h=4, w=5, k=3, r=3, s=3, padding=(0, 9, 11, 0), groups=3),  # strips in the padding alone
]

CASES: dict[str, list] = {"depthwise": DEPTHWISE}
