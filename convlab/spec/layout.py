"""The sizes of a change of layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.values import UnfitError, call_text, integer, shown

__all__ = ["LayoutSpec"]

LAYOUTS = ("nchw", "nhwc")


@dataclass(frozen=True, slots=True, init=False)
class LayoutSpec:
    """A tensor of N images, C channels, H × W pixels, to be moved from one layout to another.

    >>> LayoutSpec(n=2, c=3, h=4, w=5, source="nchw", target="nhwc").output_shape
    (2, 4, 5, 3)

    Sizes are integers from 1 on; ``source`` and ``target`` are "nchw" or "nhwc", and differ. Raises ``ValueError``
    for anything else.
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
            for name in ("source", "target"):
                if given[name] not in LAYOUTS:
                    raise UnfitError(f"{name}={shown(given[name])} is no layout", f"Use {' or '.join(LAYOUTS)}")
                object.__setattr__(self, name, given[name])
            if source == target:
                raise UnfitError(f"source and target are both {source}", "Leave the tensor as it is, or change one")
        except UnfitError as unfit:
            raise unfit.within(call_text("LayoutSpec", given)) from None

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
