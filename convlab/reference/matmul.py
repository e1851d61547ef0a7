"""A matrix product by NumPy, which hands it to BLAS."""

from __future__ import annotations

from convlab.reference.checks import Array, check_shape, check_types
from convlab.reference.sums import rounded, sum_type
from convlab.spec import GemmSpec

__all__ = ["matmul"]


def matmul(a: Array, b: Array, spec: GemmSpec) -> Array:
    """Multiply two matrices.

    >>> import numpy as np
    >>> matmul(np.array([[1, 2, 3]]), np.array([[1, 0], [10, 0], [100, 1]]), GemmSpec(1, 2, 3))
    array([[321,   3]])

    Parameters, both of one type: ``a`` of shape (gemm_m, gemm_k), ``b`` of shape (gemm_k, gemm_n). Returns an array of
    shape (gemm_m, gemm_n). The sums are kept in the type of ``a``, with at least 32 bits. Raises ``ArgumentError`` for
    another shape or type, and for an integer result that does not fit the type.
    """
    wanted = {"a": ("(M, K)", (spec.gemm_m, spec.gemm_k)), "b": ("(K, N)", (spec.gemm_k, spec.gemm_n))}
    for (name, (letters, shape)), array in zip(wanted.items(), (a, b), strict=True):
        fix = f"Reshape {name}, or make the spec with GemmSpec.from_shapes(a.shape, b.shape)"
        check_shape(name, array, letters, shape, spec, fix)
    check_types({"a": a, "b": b}, spec)
    accumulator = sum_type(a.dtype)
    return rounded(a.astype(accumulator, copy=False) @ b.astype(accumulator, copy=False), a.dtype, spec)
