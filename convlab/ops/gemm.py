"""A matrix product, by any method of the ladder."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from convlab.ops.compute import check_inputs, compute
from convlab.spec import GemmSpec

__all__ = ["gemm"]

Array = npt.NDArray[Any]


def gemm(a: Array, b: Array, method: str = "blas", device: str = "auto") -> Array:
    """Multiply two matrices.

    >>> import numpy as np
    >>> gemm(np.ones((5, 3), "f4"), np.ones((3, 7), "f4")).shape
    (5, 7)

    Args:
        a: shape (gemm_m, gemm_k).
        b: shape (gemm_k, gemm_n), of the same dtype.
        method: a name from ``cl.methods("gemm")``, or "auto".
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The product, of shape (gemm_m, gemm_n) and that dtype.

    Raises:
        ValueError: shapes that do not fit each other, or that the method does not support.
        ArgumentError: an array of the wrong dtype.
        LaunchError: a device that the method does not run on, or that is not there.
    """
    given = {"a": a, "b": b}
    check_inputs("gemm", given)
    return compute("gemm", method, GemmSpec.from_shapes(a.shape, b.shape), given, device)
