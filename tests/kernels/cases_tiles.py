"""What the rungs of convlab/kernels/rungs/tiles.py are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

from .specs import known_specs, specs_for

# Several tiles along both axes, the last ones partial.
TILES = [
    ConvSpec(n=2, c=3, h=35, w=50, k=5, r=3, s=2, padding=1),
    ConvSpec(n=1, c=2, h=71, w=40, k=3, r=2, s=3, stride=(2, 1), padding=(2, 0)),
    ConvSpec(n=2, c=4, h=37, w=52, k=6, r=5, s=3, padding=2, dilation=(2, 1), groups=2),
    ConvSpec(n=2, c=3, h=35, w=50, k=2, r=3, s=3, padding=1),
    ConvSpec(n=1, c=2, h=70, w=37, k=3, r=5, s=5, stride=2, padding=(2, 1)),
    ConvSpec(n=1, c=2, h=40, w=21, k=1, r=7, s=7, padding=3),
]
# A group of several slices of 16 filters, the last one partial; depthwise; one filter a group.
SLICES = [
    ConvSpec(n=2, c=2, h=18, w=7, k=37, r=3, s=1, padding=1),
    ConvSpec(n=1, c=4, h=9, w=20, k=42, r=1, s=3, groups=2),
    ConvSpec(n=2, c=5, h=19, w=17, k=5, r=3, s=3, padding=1, groups=5),
]
# Stride and dilation with and without a common divisor, and more classes of rows than rows.
CLASSES = [
    ConvSpec(n=1, c=2, h=75, w=21, k=3, r=3, s=2, padding=(4, 1), dilation=(4, 2)),
    ConvSpec(n=2, c=1, h=150, w=9, k=2, r=2, s=3, stride=(2, 1), padding=2, dilation=(4, 1)),
    ConvSpec(n=1, c=2, h=90, w=20, k=3, r=3, s=2, stride=(6, 1), padding=3, dilation=(4, 3)),
    ConvSpec(n=1, c=1, h=61, w=9, k=3, r=3, s=2, stride=(3, 2), dilation=(2, 1)),
    ConvSpec(n=2, c=2, h=27, w=5, k=3, r=3, s=1, dilation=(12, 1)),
]
# More weights than constant memory holds: 3 launches of 3, 3 and 1 filters, then a filter of exactly 16384 values.
LAUNCHES = [
    ConvSpec(n=2, c=600, h=4, w=3, k=7, r=4, s=2, padding=1),
    ConvSpec(n=1, c=1024, h=5, w=4, k=2, r=4, s=4),
]

CASES = {
    "naive_nhwc": specs_for(method("naive_nhwc").supports, seed=1) + TILES + SLICES,
    "tiled": specs_for(method("tiled").supports, seed=2) + known_specs(seed=20) + TILES,
    "multi_output": specs_for(method("multi_output").supports, seed=3) + TILES + SLICES,
    "constant_weights": specs_for(method("constant_weights").supports, seed=4) + known_specs(seed=40) + LAUNCHES,
    "dilated": specs_for(method("dilated").supports, seed=5) + known_specs(seed=50) + TILES + CLASSES,
}
