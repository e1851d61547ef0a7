"""What the rungs of convlab/kernels/rungs/fused.py are tested on."""

from __future__ import annotations

from convlab.spec import BlockSpec, ConvSpec, SeparableSpec

from .specs import EDGES, known_specs, random_specs

# Channels, filters of each, filters 1×1: one chunk of 16 channels and several, full and partial; tiles of 16, 32 and
# 64 filters likewise.
CHANNELS = ((1, 3, 5), (3, 2, 27), (5, 1, 4), (17, 1, 3), (16, 1, 64), (7, 5, 65), (3, 11, 1), (4, 1, 130))


def _between(low, high):
    return lambda rng: int(rng.integers(low, high))


def _separable(count, seed, **fixed):
    """Depthwise specs of the channels above, each with its filters."""
    cases = []
    for i in range(count):
        channels, multiplier, filters = CHANNELS[i % len(CHANNELS)]
        sizes = {
            "c": channels,
            "groups": channels,
            "k": channels * multiplier,
            "h": _between(5, 22),
            "w": _between(6, 38),
            **fixed,
        }
        (depthwise,) = random_specs(1, seed + i, **sizes)
        cases.append(SeparableSpec(depthwise, filters))
    return cases


def _strides(rng):
    return int(rng.integers(1, 3)), int(rng.integers(1, 4))


SEPARABLE = [
    *_separable(24, 100, r=3, s=3, stride=_strides, dilation=(1, 2)),
    *_separable(16, 200, r=5, s=5, w=_between(5, 20), stride=_strides),
    *_separable(16, 300, w=_between(5, 20)),
    SeparableSpec(ConvSpec(n=1, c=1, h=1, w=1, k=1, r=1, s=1), k=1),
    SeparableSpec(ConvSpec(n=3, c=3, h=1, w=1, k=3, r=3, s=3, padding=1, groups=3), k=7),
    SeparableSpec(ConvSpec(n=2, c=33, h=18, w=11, k=33, r=3, s=3, padding=1, groups=33), k=70),
    SeparableSpec(ConvSpec(n=1, c=2, h=9, w=70, k=4, r=3, s=3, padding=(0, 9, 11, 0), groups=2), k=3),
]

_CONVOLUTIONS = [
    *random_specs(46, 7),
    *random_specs(12, 8, r=3, s=3, h=_between(16, 40), w=_between(17, 40), stride=1, padding=1, dilation=1),
    *known_specs(seed=70),
    *EDGES,
]


# Each convolution with and without pooling, where it has a window.
BLOCKS = [
    BlockSpec(conv, number % 4 > 0, pool)
    for number, conv in enumerate(_CONVOLUTIONS)
    for pool in (False, True)
    if not pool or min(conv.p, conv.q) > 1
]

CASES = {
    "separable_fused": SEPARABLE,
    "separable_two_kernels": SEPARABLE,
    "fused_epilogue": BLOCKS,
    "block_separate": BLOCKS[::2] + BLOCKS[1::4],
}
