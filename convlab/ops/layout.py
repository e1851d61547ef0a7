"""A change of layout, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute
from convlab.spec import LayoutSpec

__all__ = ["to_layout"]

Array = npt.NDArray[Any]


def to_layout(
    x: Array, target: str = "nhwc", source: str = "nchw", method: str = "layout_copy", device: str = "auto"
) -> Array:
    """Move a tensor to another order of axes in memory.

    >>> import numpy as np
    >>> to_layout(np.ones((2, 3, 4, 5), "f4"), "nhwc").shape
    (2, 4, 5, 3)

    Args:
        x: a tensor of four axes in the order of ``source``.
        target: "nhwc" or "nchw".
        source: the layout of ``x``: the other one.
        method: a name from ``cl.methods("layout")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The same elements, contiguous in the order of ``target``.

    Raises:
        ValueError: another number of axes, or unknown layouts.
        ArgumentError: an array of a dtype that the method does not move.
        LaunchError: a device that the method does not run on, or that is not there.
    """
    given = {"x": x}
    check_inputs("layout", given)
    return compute("layout", method, LayoutSpec.from_shape(x.shape, source, target), given, device)
