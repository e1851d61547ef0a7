"""The sizes of a depthwise separable convolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.conv import ConvSpec
from convlab.spec.values import UnfitError, call_text, integer

__all__ = ["SeparableSpec"]


@dataclass(frozen=True, slots=True, init=False)
class SeparableSpec:
    """A depthwise convolution, one filter a channel or several, and a 1×1 convolution to ``k`` channels after it.

    >>> depthwise = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1, groups=16)
    >>> spec = SeparableSpec(depthwise, k=24)
    >>> spec.output_shape, spec.macs, spec.pointwise.weight_shape
    ((1, 24, 32, 32), 540672, (24, 16, 1, 1))

    Parameters: ``depthwise`` has as many groups as channels; ``k`` is an integer from 1 on. Raises ``ValueError`` for
    anything else. Source: Chollet, Xception: Deep Learning with Depthwise Separable Convolutions (2017), section 1.2.
    """

    depthwise: ConvSpec
    k: int

    def __init__(self, depthwise: ConvSpec, k: SupportsIndex) -> None:
        try:
            if depthwise.groups != depthwise.c:
                fact = f"depthwise has groups={depthwise.groups}, but c={depthwise.c} channels"
                raise UnfitError(fact, f"Make it with groups={depthwise.c}")
            object.__setattr__(self, "depthwise", depthwise)
            object.__setattr__(self, "k", integer("k", k, least=1))
        except UnfitError as unfit:
            raise unfit.within(call_text("SeparableSpec", {"depthwise": depthwise, "k": k})) from None
        _ = self.pointwise  # is checked as any convolution is

    @property
    def pointwise(self) -> ConvSpec:
        """The 1×1 convolution that follows."""
        first = self.depthwise
        return ConvSpec(first.n, first.k, first.p, first.q, self.k, 1, 1)

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, K, P, Q)."""
        return self.pointwise.output_shape

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations of both."""
        return self.depthwise.macs + self.pointwise.macs

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-accumulate."""
        return 2 * self.macs

    def __str__(self) -> str:
        return f"{self.depthwise}, then {self.k} filters 1×1"
