"""What the rungs of convlab/kernels/rungs/implicit.py are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

from .specs import random_specs, specs_for


def _filters(rng):
    """Enough for every tile of filters, full, partly full, and more than one."""
    return int(rng.choice([16, 17, 29, 32, 33, 63, 64, 65, 71]))


def _channels(rng):
    """With 16-byte loads and without; more than one stage either way."""
    return int(rng.choice([4, 8, 9, 12, 20, 23]))


# Groups of several tiles of filters; one that 16-byte loads fit; pixels that fill a block exactly; more than one image
# in a block, and an image of one pixel; a group's filters in uneven parts, their weights in several.
SPECIAL = (
    ConvSpec(n=2, c=6, h=9, w=7, k=134, r=2, s=3, padding=1, groups=2),
    ConvSpec(n=3, c=8, h=8, w=5, k=72, r=3, s=1, stride=(1, 2), groups=2),
    ConvSpec(n=2, c=4, h=8, w=16, k=32, r=1, s=1),
    ConvSpec(n=131, c=12, h=1, w=1, k=20, r=1, s=1),
    ConvSpec(n=2, c=36, h=6, w=7, k=27, r=3, s=2, groups=3),
)


def _cases(name):
    supports = method(name).supports
    large = random_specs(14, 5, supports, k=_filters, c=_channels, groups=1)
    return [*specs_for(supports, count=50, seed=4), *large, *SPECIAL]


CASES = {name: _cases(name) for name in ("implicit_gemm", "implicit_gemm_nhwc", "grouped")}
