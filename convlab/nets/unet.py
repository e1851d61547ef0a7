"""U-Net: down by pooling, up by transposed convolutions, with what was lost on the way handed across."""

from __future__ import annotations

from collections.abc import Sequence

from convlab.nets.builder import Builder, Tensor
from convlab.nets.network import Network

__all__ = ["unet"]

LEVELS = 4  # halvings


def unet(
    n: int = 1,
    h: int = 256,
    w: int = 256,
    c: int = 3,
    classes: int = 2,
    dilations: Sequence[int] = (2, 4),
    padded: bool = True,
) -> Network:
    """Build a U-Net whose two lowest convolutions are dilated, so that they see the whole of a small image.

    >>> unet().parameters, unet().macs
    (31031810, 48171581440)
    >>> unet(h=572, w=572, c=1, dilations=(1, 1), padded=False)[-1].output_shape  # the paper's
    (1, 2, 388, 388)

    Two 3×3 convolutions on each level, with twice the channels of the level above, 64 at first; 2×2 pooling on the way
    down, 2×2 transposed convolutions with stride 2 on the way up, beside which the level's own output is put. All have
    biases; there is no batch norm. Dilations change no count of parameters.

    Published: the sizes of the paper's figure 1, from 572 to 388; it prints no totals.

    Parameters: the input is (n, c, h, w); ``dilations`` are those of the two convolutions of the lowest level; without
    ``padded``, as in the paper, every 3×3 loses its margin and what is handed across is cut to size. Raises
    ``ValueError`` for an image that cannot be halved four times.
    Source: Ronneberger, Fischer and Brox, U-Net: convolutional networks for biomedical image segmentation (2015);
    dilated: Yu and Koltun, Multi-scale context aggregation by dilated convolutions (2015).
    """
    builder = Builder("unet", (n, c, h, w))
    x, across = builder.input, []
    for level in range(LEVELS):
        builder.place = f"down, level {level + 1}"
        x = _pair(builder, f"down{level + 1}", x, 64 << level, (1, 1), padded)
        across.append(x)
        if padded and (x.shape[2] % 2 or x.shape[3] % 2):
            fix = f"Give a height and a width that {1 << LEVELS} divides"
            raise ValueError(f"An image of {h}×{w} cannot be halved {LEVELS} times.\n  Fix: {fix}.")
        x = builder.max_pool(f"down{level + 1}.pool", x, 2, stride=2)
    builder.place = f"bottom, level {LEVELS + 1}"
    x = _pair(builder, "bottom", x, 64 << LEVELS, dilations, padded)
    for level in reversed(range(LEVELS)):
        builder.place = f"up, level {level + 1}"
        x = builder.transposed(f"up{level + 1}.transposed", x, 64 << level, 2, stride=2)
        x = builder.join(f"up{level + 1}.concat", "concat", (across[level], x))
        x = _pair(builder, f"up{level + 1}", x, 64 << level, (1, 1), padded)
    builder.place = "classifier of each pixel"
    builder.conv("classes", x, classes, 1, norm=False)
    return builder.network()


def _pair(builder: Builder, name: str, x: Tensor, k: int, dilations: Sequence[int], padded: bool) -> Tensor:
    for number, dilation in enumerate(dilations, start=1):
        padding = dilation if padded else 0
        x = builder.conv(f"{name}.conv{number}", x, k, 3, padding=padding, dilation=dilation, norm=False)
    return x
