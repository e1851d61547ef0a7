"""The networks of the course by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from convlab.nets.alexnet import alexnet
from convlab.nets.mobilenet import mobilenet_v1, mobilenet_v2
from convlab.nets.network import Network
from convlab.nets.resnet import resnet50
from convlab.nets.unet import unet
from convlab.nets.vgg import vgg16

__all__ = ["NETWORKS", "network"]

NETWORKS: Mapping[str, Callable[..., Network]] = {
    "resnet50": resnet50,
    "mobilenet_v1": mobilenet_v1,
    "mobilenet_v2": mobilenet_v2,
    "vgg16": vgg16,
    "alexnet": alexnet,
    "unet": unet,
}


def network(name: str, n: int = 1) -> Network:
    """The layers of a network of the course, for a batch of n images of the size that its paper takes.

    >>> network("resnet50", n=16)["conv2_1.conv"].spec
    ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, stride=(1, 1), padding=(1, 1, 1, 1), dilation=(1, 1), groups=1)

    Parameters: ``name`` is one of `NETWORKS`, whose functions take other sizes of images too. Raises ``ValueError``,
    with the nearest name, when there is none.
    """
    if name in NETWORKS:
        return NETWORKS[name](n=n)
    near = difflib.get_close_matches(str(name), NETWORKS, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"There is no network {name!r}.{guess}\n  Fix: give one of {', '.join(map(repr, NETWORKS))}.")
