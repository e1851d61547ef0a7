"""Explore transposed convolution: copies of the filter added up, inserted zeros, and where overlaps are uneven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvTransposeSpec
from convlab.views.transposed import TransposedView
from convlab.views.transposed import transposed as draw_transposed

__all__ = ["transposed"]

_CONTROLS = {
    "size": Range("Input H = W", 2, 4),
    "kernel": Range("Filter R = S", 1, 5),
    "stride": Range("Stride", 1, 4),
    "padding": Range("Padding (crop)", 0, 4),
    "output_padding": Range("Output padding", 0, 3),
    "dilation": Range("Dilation", 1, 3),
}
_SPAN = 5  # rows that a dilated filter may span, and
_ROWS = 20  # that the picture may have, for its cells to hold numbers


def transposed(
    size: int = 3, kernel: int = 3, stride: int = 2, padding: int = 1, output_padding: int = 1, dilation: int = 1
) -> Explorer:
    """Explore how a transposed convolution scatters its input, with controls for its sizes.

    >>> explorer = transposed(kernel=3, stride=2)
    >>> explorer.controls["kernel"].value = 4
    >>> explorer.view.even
    True

    Parameters: where the controls stand at first; padding crops, as in PyTorch. Raises ``ValueError`` for a value that
    its control does not reach.
    """
    sizes = {"size": size, "kernel": kernel, "stride": stride, "padding": padding}
    initial = {**sizes, "output_padding": output_padding, "dilation": dilation}
    instead = "views.transposed(spec) draws every other size."
    return Explorer("explore.transposed", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    """What fits the picture: each limit counts on those before it."""
    size, kernel = values["size"], values["kernel"]
    most_dilation = min(3, (_SPAN - 1) // (kernel - 1)) if kernel > 1 else 1
    dilation = min(values["dilation"], most_dilation)
    span = dilation * (kernel - 1) + 1
    most_stride = max(stride for stride in range(1, 5) if _rows(size, kernel, span, stride, dilation) <= _ROWS)
    stride = min(values["stride"], most_stride)
    whole = (size - 1) * stride + span
    return {
        "dilation": (1, most_dilation),
        "stride": (1, most_stride),
        "padding": (0, min(span - 1, (whole - 1) // 2)),
        "output_padding": (0, max(stride, dilation) - 1),
    }


def _rows(size: int, kernel: int, span: int, stride: int, dilation: int) -> int:
    """Rows of the two lines of panels: the input or the filter, and the input spread with zeros."""
    outputs = (size - 1) * stride + span + max(stride, dilation) - 1
    return max(size, kernel) + outputs + span - 1


def _draw(size: int, kernel: int, **steps: int) -> TransposedView:
    return draw_transposed(ConvTransposeSpec(n=1, c=1, h=size, w=size, k=1, r=kernel, s=kernel, **steps))
