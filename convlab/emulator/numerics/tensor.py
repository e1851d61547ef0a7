"""Arithmetic of Tensor Cores: D = A·B + C on many small matrices at once, the warps along the last axis.

What is computed, on every machine and in every run to the last bit:

- Inputs are taken exactly. Of TF32 the low 13 of the 32 bits are ignored (``cvt.rna.tf32`` rounds before).
- The sum begins with C and takes the products in the order of k, each step in double precision, in which the products
  of all other types are exact (at most 22 significant bits), and integer sums altogether.
- The sum is rounded once to the type of D: to nearest, ties to even, for ``f32`` and ``f16``, with overflow to infinity
  and denormals kept; ``s32`` keeps the low 32 bits, or with ``.satfinite`` the nearest limit. Doubles are a chain of
  fused multiply-adds, each rounded to nearest. Every NaN is the same one, 0x7FFFFFFF for ``f32``.

Hardware is less exact, and its vendor does not say how. Experiments found that it adds 4, 8 or 16 exact products and
the accumulator at once, aligned to the largest of them, and cuts off what lies below its 24 bits (a few more on newer
chips); a larger K is several such sums in a row, each truncated to f32, or rounded to f16. A GPU's f32 sums therefore
tend to be smaller than ours in magnitude. They differ by less than 1.5 · K · 2^-23 · (|c| + Σ|a·b|), with f16
accumulators by K/4 · 2^-11 times that sum. Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA
tensor cores", PeerJ Computer Science 7:e330 (2021); Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores",
arXiv 2512.07004 (2025). The bounds are ours, from sums of four.

No BLAS: its order of summation depends on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.numerics.floats import fma

__all__ = ["DECODE", "encode", "multiply_add", "useful"]

NAN: dict[str, Any] = {"f16": np.uint16(0x7FFF), "f32": np.uint32(0x7FFFFFFF), "f64": np.uint64(0x7FF8 << 48)}

# type → its numbers in double precision, from their bits as unsigned integers; 4-bit numbers come one a byte
DECODE: dict[str, Callable[[NDArray[Any]], NDArray[np.float64]]] = {
    "f16": lambda bits: bits.view(np.float16).astype(np.float64),
    "bf16": lambda bits: (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64),
    "tf32": lambda bits: (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64),
    "f32": lambda bits: bits.view(np.float32).astype(np.float64),
    "f64": lambda bits: bits.view(np.float64),
    "s32": lambda bits: bits.view(np.int32).astype(np.float64),
    "s8": lambda bits: bits.view(np.int8).astype(np.float64),
    "u8": lambda bits: bits.astype(np.float64),
    "s4": lambda bits: (bits ^ np.uint8(8)).astype(np.float64) - 8,
    "u4": lambda bits: bits.astype(np.float64),
}


def encode(values: NDArray[np.float64], kind: str, saturate: bool = False) -> NDArray[Any]:
    """Doubles rounded to a type of accumulators, as bits: ``f16``, ``f32``, ``f64`` or ``s32``.

    >>> encode(np.array([2049.0, 70000.0]), "f16").view(np.float16).tolist()
    [2048.0, inf]
    >>> encode(np.array([2.0**31]), "s32").view(np.int32), encode(np.array([2.0**31]), "s32", saturate=True)
    (array([-2147483648], dtype=int32), array([2147483647], dtype=uint32))
    """
    if kind == "s32":
        limited = np.clip(values, -(2.0**31), 2.0**31 - 1) if saturate else values
        return limited.astype(np.int64).astype(np.uint32)
    size = NAN[kind].itemsize
    with np.errstate(over="ignore", under="ignore"):
        bits = values.astype(f"f{size}").view(f"u{size}")
    bits[np.isnan(values)] = NAN[kind]
    return bits


def multiply_add(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.float64]:
    """A·B + C of many matrices, one step for each k, in order.

    >>> multiply_add(np.ones((1, 2, 3, 5)), np.ones((1, 3, 4, 5)), np.zeros((1, 2, 4, 5))).shape
    (1, 2, 4, 5)

    Args:
        a: (matrices, M, K, warps).
        b: (matrices, K, N, warps).
        c: (matrices, M, N, warps).
    """
    total = c.copy()
    _accumulate(a, b, total)
    return total


_fused = njit(nogil=True)(fma.function)  # the function of single numbers, for loops that Numba compiles


@njit(cache=True, nogil=True)
def _accumulate(a: Any, b: Any, total: Any) -> None:
    """Add A·B in place; the innermost loop runs over the warps, so that it vectorises without changing any order."""
    for matrix in range(a.shape[0]):
        for m in range(a.shape[1]):
            for n in range(b.shape[2]):
                sums = total[matrix, m, n]
                for k in range(a.shape[2]):
                    x, y = a[matrix, m, k], b[matrix, k, n]
                    for warp in range(sums.size):
                        sums[warp] = _fused(x[warp], y[warp], sums[warp])


def useful(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    """How many multiplications of A·B have two factors that are not zero: the others only carried padding along.

    >>> a, b = np.ones((2, 3, 1)), np.ones((3, 4, 1))
    >>> a[:, 2] = 0
    >>> useful(a, b)
    16
    """
    return int(((a != 0).sum(axis=-3) * (b != 0).sum(axis=-2)).sum())
