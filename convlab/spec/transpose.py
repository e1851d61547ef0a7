"""The sizes of a transposed convolution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.conv import ConvSpec
from convlab.spec.values import (
    Pair,
    PairLike,
    UnfitError,
    call_text,
    check_counts,
    check_groups,
    integer,
    integers,
    named_shape,
    options_text,
    paddings,
)

__all__ = ["ConvTransposeSpec"]


@dataclass(frozen=True, slots=True, init=False)
class ConvTransposeSpec:
    """The sizes of a transposed convolution, the adjoint of a convolution.

    >>> spec = ConvTransposeSpec(n=1, c=4, h=5, w=6, k=3, r=3, s=2, stride=2, padding=(1, 0), output_padding=(1, 0))
    >>> spec.output_shape, spec.weight_shape, spec.adjoint.output_shape
    ((1, 3, 10, 12), (4, 3, 3, 2), (1, 4, 5, 6))

    Parameters, as in PyTorch and ONNX: ``n``, ``c``, ``h``, ``w`` of the input, the small one; ``k`` output channels,
    ``r`` and ``s`` of the filters; ``stride`` spreads the input, ``padding`` crops the output (one number, a pair, or
    top, bottom, left, right); ``output_padding`` (one number or a pair) adds rows at the bottom and columns at the
    right, less than the larger of stride and dilation; ``groups`` divides C and K.

    Raises ``ValueError`` for anything else, where nothing is left of the output, and for tensors or work beyond
    2⁶³ − 1.
    Source: Dumoulin and Visin, A guide to convolution arithmetic for deep learning (2016), relationship 14.
    """

    n: int
    c: int
    h: int
    w: int
    k: int
    r: int
    s: int
    stride: Pair
    padding: tuple[int, int, int, int]
    output_padding: Pair
    dilation: Pair
    groups: int

    def __init__(
        self,
        n: SupportsIndex,
        c: SupportsIndex,
        h: SupportsIndex,
        w: SupportsIndex,
        k: SupportsIndex,
        r: SupportsIndex,
        s: SupportsIndex,
        stride: PairLike = 1,
        padding: PairLike = 0,
        output_padding: PairLike = 0,
        dilation: PairLike = 1,
        groups: SupportsIndex = 1,
    ) -> None:
        sizes = {"n": n, "c": c, "h": h, "w": w, "k": k, "r": r, "s": s, "groups": groups}
        pairs = {"stride": stride, "output_padding": output_padding, "dilation": dilation}
        try:
            for name, value in sizes.items():
                object.__setattr__(self, name, integer(name, value, least=1))
            for name, pair in pairs.items():
                object.__setattr__(self, name, integers(name, pair, least=int(name != "output_padding"), lengths=(2,)))
            object.__setattr__(self, "padding", paddings(padding))
            self._check()
        except UnfitError as unfit:
            raise unfit.within(call_text("ConvTransposeSpec", {**sizes, **pairs, "padding": padding})) from None

    @classmethod
    def from_shapes(
        cls,
        x_shape: Sequence[SupportsIndex],
        w_shape: Sequence[SupportsIndex],
        stride: PairLike = 1,
        padding: PairLike = 0,
        output_padding: PairLike = 0,
        dilation: PairLike = 1,
        groups: SupportsIndex = 1,
    ) -> ConvTransposeSpec:
        """Make the spec of the transposed convolution of an input ``x`` (N, C, H, W) with ``w`` (C, K/G, R, S).

        >>> ConvTransposeSpec.from_shapes((2, 4, 3, 5), (4, 3, 2, 2), stride=2, groups=2).output_shape
        (2, 6, 6, 10)

        Raises ``ValueError`` where the channels of the two differ; otherwise as ``ConvTransposeSpec`` does.
        """
        options = {"stride": stride, "padding": padding, "output_padding": output_padding, "dilation": dilation}
        try:
            n, c, h, w = named_shape("x", x_shape, ("N", "C", "H", "W"))
            channels, k, r, s = named_shape("w", w_shape, ("C", "K/G", "R", "S"))
            if channels != c:
                raise UnfitError(f"w has {channels} input channels, but x has c={c}", "Give w the shape (C, K/G, R, S)")
            g = integer("groups", groups, least=1)
        except UnfitError as unfit:
            given = {"x_shape": x_shape, "w_shape": w_shape, **options, "groups": groups}
            raise unfit.within(call_text("ConvTransposeSpec.from_shapes", given)) from None
        return cls(n, c, h, w, k * g, r, s, stride, padding, output_padding, dilation, groups)

    @property
    def p(self) -> int:
        """The output's height."""
        top, bottom, _, _ = self.padding
        return _extent(self.h, self.stride[0], self.dilation[0], self.r, top + bottom, self.output_padding[0])

    @property
    def q(self) -> int:
        """The output's width."""
        _, _, left, right = self.padding
        return _extent(self.w, self.stride[1], self.dilation[1], self.s, left + right, self.output_padding[1])

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, C, H, W)."""
        return self.n, self.c, self.h, self.w

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        """The shape (C, K/G, R, S)."""
        return self.c, self.k // self.groups, self.r, self.s

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, K, P, Q)."""
        return self.n, self.k, self.p, self.q

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations: every input element meets every element of its filters."""
        return self.n * self.c * self.h * self.w * (self.k // self.groups) * self.r * self.s

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-accumulate."""
        return 2 * self.macs

    @property
    def adjoint(self) -> ConvSpec:
        """The convolution of which this is the transpose: from (N, K, P, Q) to (N, C, H, W), with the same ``w``.

        Output padding as large as the stride adds rows that this convolution would use for one more output.
        """
        return ConvSpec(
            self.n, self.k, self.p, self.q, self.c, self.r, self.s,
            self.stride, self.padding, self.dilation, self.groups,
        )  # fmt: skip

    def __str__(self) -> str:
        size, channels = "×".join(map(str, self.input_shape)), f"{self.k} channel{'s' * (self.k > 1)}"
        by = f"{self.p}×{self.q} by {self.r}×{self.s}"
        return f"{size} → {channels} {by}, {options_text(self)}, transposed"

    def _check(self) -> None:
        check_groups(self.c, self.k, self.groups)
        axes = zip(("rows", "columns"), self.output_padding, self.stride, self.dilation, (self.p, self.q), strict=True)
        for what, extra, stride, dilation, extent in axes:
            if extra >= max(stride, dilation):
                fact = f"output_padding adds {extra} {what}, with stride {stride} and dilation {dilation}"
                raise UnfitError(fact, f"Use at most {max(stride, dilation) - 1}: beyond, no input reaches the output")
            if extent < 1:
                raise UnfitError(f"The padding crops all {what} of the output", "Use less padding, or a larger filter")
        top, bottom, left, right = self.padding
        check_counts(
            {
                "The input has {} elements": math.prod(self.input_shape),
                "The weights have {} elements": math.prod(self.weight_shape),
                "The output before cropping has {} elements": (
                    self.n * self.k * (self.p + top + bottom) * (self.q + left + right)
                ),
                "The work is {} multiply-accumulates": self.macs,
            }
        )


def _extent(size: int, stride: int, dilation: int, window: int, cropped: int, extra: int) -> int:
    return (size - 1) * stride + dilation * (window - 1) + 1 - cropped + extra
