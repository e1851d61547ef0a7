"""Explore what fusion saves: the bytes that a block's kernels move, separate and as one."""

from __future__ import annotations

from collections.abc import Mapping

from tqdm.auto import tqdm

from convlab.explore.controls import Choice, Control
from convlab.explore.explorer import Explorer
from convlab.spec import BlockSpec, ConvSpec, SeparableSpec
from convlab.views.epilogue import EpilogueView
from convlab.views.epilogue import epilogue as draw_epilogue

__all__ = ["epilogue"]

_BLOCKS: Mapping[str, str] = {
    "relu": "convolution, batch norm, ReLU",
    "pool": "convolution, batch norm, ReLU, 2×2 pooling",
    "separable": "depthwise, then pointwise",
}
_CHANNELS, _IMAGES = (4, 8, 16), (8, 16, 32)  # few, since the kernels are run once for each combination
_PATIENCE = 2  # seconds without a progress bar


def _sizes(numbers: tuple[int, ...]) -> dict[str, str]:
    return {str(number): str(number) for number in numbers}


_CONTROLS: dict[str, Control] = {
    "block": Choice("Block", _BLOCKS),
    "channels": Choice("Channels C = K", _sizes(_CHANNELS)),
    "image": Choice("Image H = W", _sizes(_IMAGES)),
}


def epilogue(block: str = "pool", channels: int = 16, image: int = 32) -> Explorer:
    """Explore the traffic of a convolution and what follows it, with controls for the block and its sizes.

    >>> explorer = epilogue("relu", channels=4, image=8)
    >>> explorer.controls["block"].value = "pool"
    >>> explorer.view.least
    {'block_separate': 6000, 'fused_epilogue': 1904}

    Parameters: where the controls stand at first; filters are 3×3. The kernels are compiled now, and run when a
    combination is first seen. Raises ``ValueError`` for a value that its control does not reach.
    """
    initial = {"block": block, "channels": str(channels), "image": str(image)}
    instead = "views.epilogue(spec) draws every other size."
    for each in tqdm(_BLOCKS, desc="compiling", delay=_PATIENCE, leave=False):
        _draw(each, str(_CHANNELS[0]), str(_IMAGES[0]))
    return Explorer("explore.epilogue", _CONTROLS, initial, _draw, instead=instead)


def _draw(block: str, channels: str, image: str) -> EpilogueView:
    c, h = int(channels), int(image)
    groups = c if block == "separable" else 1
    conv = ConvSpec(n=1, c=c, h=h, w=h, k=c, r=3, s=3, padding=1, groups=groups)
    return draw_epilogue(SeparableSpec(conv, c) if block == "separable" else BlockSpec(conv, pool=block == "pool"))
