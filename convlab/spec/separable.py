"""The sizes of a depthwise separable convolution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.conv import ConvSpec, PaddingLike
from convlab.spec.values import PairLike, UnfitError, call_text, check_kind, integer, named_shape, shown

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
            check_kind("depthwise", depthwise, ConvSpec)
            if depthwise.groups != depthwise.c:
                fact = f"depthwise has groups={depthwise.groups}, but c={depthwise.c} channels"
                raise UnfitError(fact, f"Make it with groups={depthwise.c}")
            object.__setattr__(self, "depthwise", depthwise)
            object.__setattr__(self, "k", integer("k", k, least=1))
        except UnfitError as unfit:
            raise unfit.within(call_text("SeparableSpec", {"depthwise": depthwise, "k": k})) from None
        _ = self.pointwise  # is checked as any convolution is

    @classmethod
    def from_shapes(
        cls,
        x_shape: Sequence[SupportsIndex],
        w_depthwise_shape: Sequence[SupportsIndex],
        w_pointwise_shape: Sequence[SupportsIndex],
        stride: PairLike = 1,
        padding: PaddingLike = 0,
        dilation: PairLike = 1,
    ) -> SeparableSpec:
        """Make the spec of the convolutions of an input ``x`` with ``w_depthwise``, and then ``w_pointwise``.

        >>> SeparableSpec.from_shapes((2, 3, 9, 7), (6, 1, 3, 3), (5, 6, 1, 1), padding=1).output_shape
        (2, 5, 9, 7)

        Parameters: the shapes (N, C, H, W), (C·m, 1, R, S) and (K, C·m, 1, 1), with m filters a channel; ``stride``,
        ``padding`` and ``dilation`` are those of the depthwise convolution. Raises ``ValueError`` for shapes that do
        not fit each other; otherwise as ``ConvSpec`` does.
        """
        try:
            _, c, _, _ = named_shape("x", x_shape, ("N", "C", "H", "W"))
            filters, one, _, _ = named_shape("w_depthwise", w_depthwise_shape, ("C·m", "1", "R", "S"))
            k, *mixed = named_shape("w_pointwise", w_pointwise_shape, ("K", "C·m", "1", "1"))
            if one != 1 or filters % c:
                fact = f"w_depthwise has shape {shown(w_depthwise_shape)}, but x has c={c} channels"
                raise UnfitError(fact, f"Give w_depthwise the shape ({c}·m, 1, R, S), for m filters a channel")
            if mixed != [filters, 1, 1]:
                fact = f"w_pointwise has shape {shown(w_pointwise_shape)}, but w_depthwise makes {filters} channels"
                raise UnfitError(fact, f"Give w_pointwise the shape (K, {filters}, 1, 1)")
        except UnfitError as unfit:
            given = {"x_shape": x_shape, "w_depthwise_shape": w_depthwise_shape, "w_pointwise_shape": w_pointwise_shape}
            raise unfit.within(call_text("SeparableSpec.from_shapes", given)) from None
        return cls(ConvSpec.from_shapes(x_shape, w_depthwise_shape, stride, padding, dilation, groups=c), k)

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
