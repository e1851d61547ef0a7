"""VGG: 3×3 convolutions all the way, and most of the parameters in the classifier."""

from __future__ import annotations

from convlab.nets.builder import Builder
from convlab.nets.network import Network

__all__ = ["vgg16"]


def vgg16(n: int = 1, h: int = 224, w: int = 224, blocks: tuple[int, ...] = (2, 2, 3, 3, 3)) -> Network:
    """Build VGG-16: five stages of 3×3 convolutions, each with twice the channels of the last up to 512, and pooling.

    >>> vgg16().parameters, vgg16().macs
    (138357544, 15470264320)

    Published: 138 M parameters (the paper's table 2); 15.5 G MACs (Sze and others, Efficient processing of deep neural
    networks (2017), table II), of which 124 M in the classifier. Ours are the same; biases count, there is no batch
    norm.

    Parameters: the input is (n, 3, h, w); ``blocks`` is the number of convolutions of each stage: (2, 2, 4, 4, 4) is
    VGG-19.
    Source: Simonyan and Zisserman, Very deep convolutional networks for large-scale image recognition (2014), table 1,
    configuration D.
    """
    builder = Builder(f"vgg{3 + sum(blocks)}", (n, 3, h, w))
    x = builder.input
    for stage, count in enumerate(blocks, start=1):
        builder.place = f"stage {stage}"
        for number in range(1, count + 1):
            x = builder.conv(f"conv{stage}_{number}", x, min(32 << stage, 512), 3, padding=1, norm=False)
        x = builder.max_pool(f"pool{stage}", x, 2, stride=2)
    builder.place = "classifier"
    for number, k in enumerate((4096, 4096, 1000), start=6):
        x = builder.linear(f"fc{number}", x, k)
    return builder.network()
