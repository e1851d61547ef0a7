"""What the rungs of convlab/kernels/rungs/tensor.py are tested on."""

from __future__ import annotations

import numpy as np

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

from .specs import random_specs, specs_for

# Several tiles along every axis, none of them full, and many steps along k; channels that fill pieces of 16 bytes, and
# such that do not; few enough tiles to compute k in parts, and too many.
LARGE = (
    ConvSpec(n=2, c=19, h=13, w=14, k=37, r=3, s=3, padding=1),
    ConvSpec(n=3, c=24, h=9, w=11, k=70, r=3, s=2, padding=1, dilation=(1, 2)),
    ConvSpec(n=2, c=40, h=12, w=7, k=140, r=1, s=1),
    ConvSpec(n=2, c=32, h=11, w=10, k=68, r=2, s=3, stride=(2, 1), padding=1, groups=2),
    ConvSpec(n=1, c=3, h=23, w=25, k=64, r=7, s=7, stride=2, padding=3),
    ConvSpec(n=2, c=104, h=5, w=6, k=18, r=3, s=3, padding="same"),
    ConvSpec(n=2, c=64, h=6, w=5, k=10, r=3, s=3, padding=1, groups=2),
    ConvSpec(n=5, c=16, h=46, w=37, k=9, r=3, s=1, padding=(1, 0)),
    ConvSpec(n=3, c=64, h=5, w=6, k=12, r=1, s=1, padding=(2, 3)),  # more zeros than windows need
    ConvSpec(n=5, c=32, h=9, w=7, k=20, r=3, s=2, padding=(3, 0, 4, 1)),
    ConvSpec(n=2, c=32, h=11, w=13, k=20, r=3, s=2, padding=2, dilation=(2, 3)),
)


def channels(rng: np.random.Generator) -> int:
    return 8 * int(rng.integers(1, 7))


def cases(name: str) -> list:
    supports = method(name).supports
    whole = random_specs(15, 1, supports, c=channels, groups=1)
    return [*specs_for(supports, count=50), *whole, *LARGE]


CASES = {name: cases(name) for name in ("tensor_core", "tensor_core_mma", "tensor_core_bf16", "tensor_core_tf32")}
# Both factors are rounded to 11 bits.
RELATIVE = {"tensor_core_tf32": (1 + 2.0**-11) ** 2 - 1}
