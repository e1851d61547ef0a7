"""The sizes of a matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsIndex

from convlab.spec.values import UnfitError, call_text, check_counts, integer, named_shape

__all__ = ["GemmSpec"]


@dataclass(frozen=True, slots=True, init=False)
class GemmSpec:
    """The sizes of C = A · B with A of gemm_m × gemm_k, B of gemm_k × gemm_n, C of gemm_m × gemm_n, all row by row.

    >>> spec = GemmSpec(gemm_m=16, gemm_n=1024, gemm_k=144)
    >>> spec.output_shape, spec.macs
    ((16, 1024), 2359296)

    All are integers from 1 on. Raises ``ValueError`` for anything else, and for work beyond 2⁶³ − 1.
    """

    gemm_m: int
    gemm_n: int
    gemm_k: int

    def __init__(self, gemm_m: SupportsIndex, gemm_n: SupportsIndex, gemm_k: SupportsIndex) -> None:
        given = {"gemm_m": gemm_m, "gemm_n": gemm_n, "gemm_k": gemm_k}
        try:
            for name, value in given.items():
                object.__setattr__(self, name, integer(name, value, least=1))
            check_counts({"The work is {} multiply-accumulates": self.macs})
        except UnfitError as unfit:
            raise unfit.within(call_text("GemmSpec", given)) from None

    @classmethod
    def from_shapes(cls, a_shape: Sequence[SupportsIndex], b_shape: Sequence[SupportsIndex]) -> GemmSpec:
        """Make the spec of the product of two matrices.

        >>> GemmSpec.from_shapes((5, 3), (3, 7)).output_shape
        (5, 7)

        Raises ``ValueError`` for shapes that do not fit each other.
        """
        try:
            m, k = named_shape("a", a_shape, ("M", "K"))
            rows, n = named_shape("b", b_shape, ("K", "N"))
            if rows != k:
                fix = f"Give b {k} rows, or transpose one of the two"
                raise UnfitError(f"a has {k} columns, but b has {rows} rows", fix)
        except UnfitError as unfit:
            given = {"a_shape": a_shape, "b_shape": b_shape}
            raise unfit.within(call_text("GemmSpec.from_shapes", given)) from None
        return cls(m, n, k)

    @property
    def output_shape(self) -> tuple[int, int]:
        """The shape (gemm_m, gemm_n)."""
        return self.gemm_m, self.gemm_n

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations: gemm_m · gemm_n · gemm_k."""
        return self.gemm_m * self.gemm_n * self.gemm_k

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-accumulate."""
        return 2 * self.macs

    def __str__(self) -> str:
        return f"{self.gemm_m}×{self.gemm_k} · {self.gemm_k}×{self.gemm_n}"
