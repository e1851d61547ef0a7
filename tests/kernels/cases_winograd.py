"""What the rungs of convlab/kernels/rungs/winograd.py are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

from .specs import specs_for

FIXED = {"r": 3, "s": 3, "stride": 1, "dilation": 1}
# Several blocks of filters and of tiles, several steps of channels, none of them full; padding wider than a tile.
LARGE = (
    ConvSpec(n=2, c=19, h=13, w=14, k=37, r=3, s=3, padding=1),
    ConvSpec(n=3, c=9, h=10, w=17, k=70, r=3, s=3),
    ConvSpec(n=2, c=22, h=9, w=12, k=74, r=3, s=3, padding=(0, 1, 2, 0), groups=2),
    ConvSpec(n=2, c=33, h=1, w=30, k=4, r=3, s=3, padding=(1, 1)),
    ConvSpec(n=2, c=3, h=4, w=5, k=7, r=3, s=3, padding=(5, 3, 4, 6)),
    ConvSpec(n=2, c=40, h=11, w=12, k=40, r=3, s=3, padding=1, groups=40),
)

CASES = {"winograd": [*specs_for(method("winograd").supports, count=60, **FIXED), *LARGE]}
# Where one channel and a window mostly of padding leave few products, sums of the transforms are larger, and cancel;
# of all cases the worst is off by 12 · 2⁻²⁴ of Σ|w·x|, where nine products and a bias are allowed 10 of them.
# test_winograd.py bounds each element by what its own transforms hold, without this allowance.
RELATIVE = {"winograd": 8 * 2.0**-24}
