"""The sizes of a change of layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.values import UnfitError, call_text, check_counts, integer, named_shape, shown

__all__ = ["LayoutSpec"]

LAYOUTS = ("nchw", "nhwc")


@dataclass(frozen=True, slots=True, init=False)
class LayoutSpec:
    """A tensor of N images, C channels, H × W pixels, to be moved from one layout to another.

    >>> LayoutSpec(n=2, c=3, h=4, w=5, source="nchw", target="nhwc").output_shape
    (2, 4, 5, 3)

    Sizes are integers from 1 on; ``source`` and ``target`` are "nchw" or "nhwc", and differ. Raises ``ValueError``
    for anything else, and for a tensor beyond 2⁶³ − 1 elements.
    """

    n: int
    c: int
    h: int
    w: int
    source: str
    target: str

    def __init__(
        self,
        n: SupportsIndex,
        c: SupportsIndex,
        h: SupportsIndex,
        w: SupportsIndex,
        source: str = "nchw",
        target: str = "nhwc",
    ) -> None:
        given = {"n": n, "c": c, "h": h, "w": w, "source": source, "target": target}
        try:
            for name in "nchw":
                object.__setattr__(self, name, integer(name, given[name], least=1))
            _check_layouts(source, target)
            object.__setattr__(self, "source", source)
            object.__setattr__(self, "target", target)
            check_counts({"The tensor has {} elements": math.prod(self.input_shape)})
        except UnfitError as unfit:
            raise unfit.within(call_text("LayoutSpec", given)) from None

    @classmethod
    def from_shape(cls, x_shape: Sequence[SupportsIndex], source: str = "nchw", target: str = "nhwc") -> LayoutSpec:
        """Make the spec of a tensor ``x`` whose axes are in the source's order.

        >>> LayoutSpec.from_shape((2, 4, 5, 3), source="nhwc", target="nchw").c
        3

        Raises ``ValueError`` that names x for another number of axes or an empty one; otherwise as ``LayoutSpec`` does.
        """
        try:
            _check_layouts(source, target)
            sizes = named_shape("x", x_shape, tuple(source.upper()))
        except UnfitError as unfit:
            given = {"x_shape": x_shape, "source": source, "target": target}
            raise unfit.within(call_text("LayoutSpec.from_shape", given)) from None
        return cls(**dict(zip(source, sizes, strict=True)), source=source, target=target)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape in the source's order of axes."""
        return tuple(getattr(self, letter) for letter in self.source)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """The shape in the target's order of axes."""
        return tuple(getattr(self, letter) for letter in self.target)

    def __str__(self) -> str:
        return f"{'×'.join(map(str, self.input_shape))} {self.source} → {self.target}"


def _check_layouts(source: str, target: str) -> None:
    for name, layout in (("source", source), ("target", target)):
        if layout not in LAYOUTS:
            raise UnfitError(f"{name}={shown(layout)} is no layout", f"Use {' or '.join(LAYOUTS)}")
    if source == target:
        raise UnfitError(f"source and target are both {source}", "Leave the tensor as it is, or change one")
