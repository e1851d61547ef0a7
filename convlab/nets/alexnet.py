"""AlexNet, whose groups were two GPUs."""

from __future__ import annotations

from convlab.nets.builder import Builder
from convlab.nets.network import Network

__all__ = ["alexnet"]

# Filters, their size, stride, padding and groups, and whether 3×3 pooling with stride 2 follows: section 3.5.
CONVOLUTIONS = (
    (96, 11, 4, 0, 1, True),
    (256, 5, 1, 2, 2, True),
    (384, 3, 1, 1, 1, False),
    (384, 3, 1, 1, 2, False),
    (256, 3, 1, 1, 2, True),
)


def alexnet(n: int = 1, h: int = 227, w: int = 227) -> Network:
    """Build AlexNet: five convolutions, three of them in two groups, and three fully connected layers.

    >>> alexnet().parameters, alexnet().macs
    (60965224, 724406816)

    Published: 60 M parameters in the paper; 61 M weights and 724 M MACs, of which 666 M in convolutions (Sze and
    others, Efficient processing of deep neural networks (2017), table II). Ours are the same. The paper says 224×224;
    its 55×55 outputs need 227.

    Parameters: the input is (n, 3, h, w).
    Source: Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural networks (2012).
    """
    builder = Builder("alexnet", (n, 3, h, w))
    x = builder.input
    for number, (k, size, stride, padding, groups, pooled) in enumerate(CONVOLUTIONS, start=1):
        builder.place = f"convolution {number}" + (f", {groups} groups" if groups > 1 else "")
        x = builder.conv(f"conv{number}", x, k, size, stride, padding, groups=groups, norm=False)
        if pooled:
            x = builder.max_pool(f"pool{number}", x, 3, stride=2)
    builder.place = "classifier"
    for number, k in enumerate((4096, 4096, 1000), start=6):
        x = builder.linear(f"fc{number}", x, k)
    return builder.network()
