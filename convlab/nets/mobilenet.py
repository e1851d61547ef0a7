"""MobileNet, version 1 and 2: what depthwise convolutions make of a network."""

from __future__ import annotations

from convlab.nets.builder import Builder, Tensor
from convlab.nets.network import Network

__all__ = ["mobilenet_v1", "mobilenet_v2"]

# Channels and stride of each depthwise separable convolution: table 1 of the first paper.
SEPARABLE = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *5 * ((512, 1),), (1024, 2), (1024, 1))

# Expansion, channels, repeats and stride of the first: table 2 of the second paper.
INVERTED = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def mobilenet_v1(n: int = 1, h: int = 224, w: int = 224, multiplier: float = 1.0) -> Network:
    """Build MobileNet: a 3×3 stem, and 13 times a depthwise 3×3 with the 1×1 that mixes its channels.

    >>> mobilenet_v1().parameters, mobilenet_v1().macs
    (4231976, 568740352)

    Published: 4.2 M parameters and 569 M MACs, as we count; the paper's last depthwise convolution has stride 2 in its
    table and keeps its size in the next line: it is 1 here.

    Parameters: the input is (n, 3, h, w); ``multiplier`` scales all channels: the paper's α.
    Source: Howard and others, MobileNets (2017), tables 1, 6 and 7.
    """
    builder = Builder("mobilenet_v1", (n, 3, h, w))
    builder.place = "stem"
    x = builder.conv("conv1", builder.input, int(32 * multiplier), 3, stride=2, padding=1)
    for number, (k, stride) in enumerate(SEPARABLE, start=2):
        builder.place = f"separable convolution {number - 1}"
        x = builder.conv(f"conv{number}.depthwise", x, x.shape[1], 3, stride, padding=1, groups=x.shape[1])
        x = builder.conv(f"conv{number}.pointwise", x, int(k * multiplier), 1)
    builder.place = "classifier"
    builder.linear("fc", builder.average("mean", x), 1000)
    return builder.network()


def mobilenet_v2(n: int = 1, h: int = 224, w: int = 224) -> Network:
    """Build MobileNetV2: inverted bottlenecks, which widen by 1×1, filter each channel, and narrow by 1×1.

    >>> mobilenet_v2().parameters, mobilenet_v2().macs
    (3504872, 300774272)

    Published: 3.4 M parameters and 300 M MACs in the paper, 3.5 M and 0.30 G in Torchvision's table of models
    (MobileNet_V2_Weights), which is our count: convolutions 2,189,760, batch norm 34,112, fully connected 1,281,000
    parameters.

    Parameters: the input is (n, 3, h, w).
    Source: Sandler and others, MobileNetV2: inverted residuals and linear bottlenecks (2018), tables 1, 2 and 4.
    """
    builder = Builder("mobilenet_v2", (n, 3, h, w))
    builder.place = "stem"
    x = builder.conv("conv1", builder.input, 32, 3, stride=2, padding=1)
    number = 0
    for expansion, k, repeats, first in INVERTED:
        for repeat in range(repeats):
            number += 1
            builder.place = f"bottleneck {number}"
            x = _inverted(builder, f"block{number}", x, expansion, k, 1 if repeat else first)
    builder.place = "classifier"
    x = builder.conv("conv_last", x, 1280, 1)
    builder.linear("fc", builder.average("mean", x), 1000)
    return builder.network()


def _inverted(builder: Builder, name: str, x: Tensor, expansion: int, k: int, stride: int) -> Tensor:
    """Widen, unless the factor is 1; filter; narrow; and add the input where the shapes agree."""
    wide = expansion * x.shape[1]
    y = builder.conv(f"{name}.expand", x, wide, 1) if expansion > 1 else x
    y = builder.conv(f"{name}.depthwise", y, wide, 3, stride, padding=1, groups=wide)
    y = builder.conv(f"{name}.project", y, k, 1)
    return builder.join(f"{name}.sum", "add", (y, x)) if x.shape == y.shape else y
