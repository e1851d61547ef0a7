"""ResNet with bottlenecks, as version 1.5 and as in the paper."""

from __future__ import annotations

from convlab.nets.builder import Builder, Tensor
from convlab.nets.network import Network

__all__ = ["resnet50"]

EXPANSION = 4  # of a bottleneck: channels out for each in the middle


def resnet50(
    n: int = 1,
    h: int = 224,
    w: int = 224,
    version: str = "1.5",
    blocks: tuple[int, ...] = (3, 4, 6, 3),
) -> Network:
    """Build ResNet-50: a 7×7 stem, four stages of bottlenecks 1×1, 3×3, 1×1 with a sum around each, and a classifier.

    >>> resnet50().parameters, resnet50().macs
    (25557032, 4089184256)

    The first bottleneck of a stage after the first halves the image: in the 3×3 by version "1.5", in the 1×1 before it
    by version "1", the paper's. A stage has twice the channels of the last.

    Published: 25.6 M parameters and 4.09 G MACs, version 1.5 (Torchvision's table of models, ResNet50_Weights), which
    is our count: convolutions 23,454,912, batch norm 53,120, fully connected 2,049,000 parameters. Of version 1, the
    paper prints 3.8 G; our count is 3,857,973,248.

    Parameters: the input is (n, 3, h, w); ``blocks`` is the number of bottlenecks of each stage: (3, 4, 23, 3) is
    ResNet-101. Raises ``ValueError`` for another version.
    Source: He, Zhang, Ren and Sun, Deep residual learning for image recognition (2015), table 1; version 1.5: Goyal and
    others, Accurate, large minibatch SGD (2017), section 5.1 and its code.
    """
    if version not in ("1", "1.5"):
        raise ValueError(f"ResNet has no version {version!r}.\n  Fix: give '1.5', or '1' for the paper's.")
    builder = Builder(f"resnet{2 + 3 * sum(blocks)}", (n, 3, h, w))
    builder.place = "stem"
    x = builder.conv("conv1", builder.input, 64, 7, stride=2, padding=3)
    x = builder.max_pool("pool1", x, 3, stride=2, padding=1)
    for stage, count in enumerate(blocks, start=2):
        for block in range(1, count + 1):
            builder.place = f"conv{stage}_x, block {block}"
            stride = 2 if block == 1 and stage > 2 else 1
            x = _bottleneck(builder, f"conv{stage}_{block}", x, 64 << (stage - 2), stride, version)
    builder.place = "classifier"
    builder.linear("fc", builder.average("mean", x), 1000)
    return builder.network()


def _bottleneck(builder: Builder, name: str, x: Tensor, middle: int, stride: int, version: str) -> Tensor:
    """Three convolutions, and a 1×1 on the way around them where the shapes differ."""
    first, second = (stride, 1) if version == "1" else (1, stride)
    y = builder.conv(f"{name}.reduce", x, middle, 1, stride=first)
    y = builder.conv(f"{name}.conv", y, middle, 3, stride=second, padding=1)
    y = builder.conv(f"{name}.expand", y, EXPANSION * middle, 1)
    if x.shape != y.shape:
        x = builder.conv(f"{name}.shortcut", x, EXPANSION * middle, 1, stride=stride)
    return builder.join(f"{name}.sum", "add", (y, x))
