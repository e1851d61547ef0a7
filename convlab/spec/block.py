"""The sizes of a convolution with what follows it in a network."""

from __future__ import annotations

from dataclasses import dataclass

from convlab.spec.conv import ConvSpec
from convlab.spec.values import UnfitError, call_text, check_kind

__all__ = ["BlockSpec"]


@dataclass(frozen=True, slots=True, init=False)
class BlockSpec:
    """A convolution, its bias, a scale and shift of each channel (batch norm), ReLU, and 2×2 max pooling.

    >>> conv = ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1)
    >>> BlockSpec(conv, relu=True, pool=True).output_shape
    (1, 16, 16, 16)

    Parameters: ``relu`` and ``pool`` say whether they are there; pooling has stride 2 and leaves an odd last row or
    column out, as frameworks do. Raises ``ValueError`` for anything else, and where there is no 2×2 to pool.
    """

    conv: ConvSpec
    relu: bool
    pool: bool

    def __init__(self, conv: ConvSpec, relu: bool = True, pool: bool = False) -> None:
        given = {"conv": conv, "relu": relu, "pool": pool}
        try:
            for name, value in given.items():
                check_kind(name, value, ConvSpec if name == "conv" else bool)
                object.__setattr__(self, name, value)
            if pool and min(conv.p, conv.q) < 2:
                fact = f"The convolution's output of {conv.p}×{conv.q} has no window of 2×2"
                raise UnfitError(fact, "Use pool=False, or a larger input")
        except UnfitError as unfit:
            raise unfit.within(call_text("BlockSpec", given)) from None

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, K, P, Q), with half of P and Q after pooling."""
        n, k, p, q = self.conv.output_shape
        return (n, k, p // 2, q // 2) if self.pool else (n, k, p, q)

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations of the convolution."""
        return self.conv.macs

    @property
    def flops(self) -> int:
        """Floating-point operations of the convolution: two for each multiply-accumulate."""
        return self.conv.flops

    def __str__(self) -> str:
        return f"{self.conv}{', ReLU' * self.relu}{', 2×2 max pooling' * self.pool}"
