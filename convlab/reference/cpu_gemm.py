"""The CPU ladder of the matrix product C = A·B: from three loops to register tiles on all cores, in Numba."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from convlab.reference.checks import argument_error
from convlab.reference.register_tile import TM, TN, register_tile

__all__ = ["CPU_GEMM", "blocked", "loops", "packed", "parallel", "vectorised"]

Matrix = npt.NDArray[np.float32]

BM = BN = BK = 64  # three such tiles are 48 KiB: the second-level cache holds them many times over
DEPTH = 192  # rows of a panel that stay in the first-level cache: 24 KiB of 32-column panels


def loops(a: Matrix, b: Matrix) -> Matrix:
    """Multiply by three loops, one sum at a time.

    >>> loops(np.ones((2, 3), "f4"), np.ones((3, 4), "f4"))
    array([[3., 3., 3., 3.],
           [3., 3., 3., 3.]], dtype=float32)

    Each sum waits for its own last addition, and every number of ``b`` comes from another cache line.

    Parameters: ``a`` of shape (M, K), ``b`` of shape (K, N), both float32. Returns (M, N), float32. Raises
    ``ArgumentError`` for other types, for shapes that do not match, and for an empty matrix.
    """
    return _run(_loops, a, b)


@njit(cache=True, nogil=True)
def _loops(a: Any, b: Any, c: Any) -> None:
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def blocked(a: Matrix, b: Matrix) -> Matrix:
    """Multiply by the same loops tile by tile, so that a tile of ``b`` is still in the cache for the next row.

    >>> float(blocked(np.ones((70, 65), "f4"), np.ones((65, 3), "f4")).max())
    65.0

    It gains little, since a sum still waits for its own last addition, and since rows that are 2ⁿ bytes apart
    compete for the same few places of the cache. Panels cure both. Parameters, result and errors are those of
    ``loops``.
    """
    return _run(_blocked, a, b)


@njit(cache=True, nogil=True)
def _blocked(a: Any, b: Any, c: Any) -> None:
    (m, n), depth = c.shape, b.shape[0]
    for first in range(0, depth, BK):
        for top in range(0, m, BM):
            for left in range(0, n, BN):
                for i in range(top, min(top + BM, m)):
                    for j in range(left, min(left + BN, n)):
                        total = c[i, j]
                        for k in range(first, min(first + BK, depth)):
                            total += a[i, k] * b[k, j]
                        c[i, j] = total


def packed(a: Matrix, b: Matrix) -> Matrix:
    """Copy ``b`` into panels of TN columns first: then the innermost loop runs over neighbours, which makes it SIMD.

    >>> float(packed(np.ones((9, 65), "f4"), np.ones((65, 40), "f4")).max())
    65.0

    The sums of a tile are in memory, and every addition to them costs a load and a store. Parameters, result
    and errors are those of ``loops``.
    """
    return _run(_packed, a, b)


@njit(cache=True, nogil=True)
def _packed(a: Any, b: Any, c: Any) -> None:
    depth = a.shape[1]
    for left in range(0, c.shape[1], TN):
        panel, sums = _panel(b, left), np.zeros((a.shape[0], TN), np.float32)  # (K, TN), (M, TN)
        for first in range(0, depth, DEPTH):
            for top in range(0, a.shape[0], TM):
                _memory_tile(sums, top, a, panel, first, min(first + DEPTH, depth))
        _store(sums, c, left)


@njit(cache=True, nogil=True, fastmath={"contract"})
def _memory_tile(sums: Any, top: int, a: Any, panel: Any, first: int, end: int) -> None:
    for k in range(first, end):
        for i in range(top, top + TM):
            value = a[i, k]
            for j in range(panel.shape[1]):  # not TN: a loop of known length is unrolled, and then not vectorised
                sums[i, j] += value * panel[k, j]


def vectorised(a: Matrix, b: Matrix) -> Matrix:
    """Multiply the same panels with the sums of a tile in registers.

    >>> float(vectorised(np.ones((9, 65), "f4"), np.ones((65, 40), "f4")).max())
    65.0

    Parameters, result and errors are those of ``loops``.
    """
    return _run(_vectorised, a, b)


@njit(cache=True, nogil=True)
def _vectorised(a: Any, b: Any, c: Any) -> None:
    for left in range(0, c.shape[1], TN):
        _columns(a, b, c, left)


def parallel(a: Matrix, b: Matrix) -> Matrix:
    """Multiply as ``vectorised`` does, with the panels shared out to all cores.

    >>> float(parallel(np.ones((9, 65), "f4"), np.ones((65, 40), "f4")).max())
    65.0

    A product of a single panel stays on one core. Parameters, result and errors are those of ``loops``.
    """
    return _run(_parallel, a, b)


@njit(cache=True, nogil=True, parallel=True)
def _parallel(a: Any, b: Any, c: Any) -> None:
    for i in prange(-(-c.shape[1] // TN)):
        _columns(a, b, c, np.int64(i) * TN)


CPU_GEMM: Mapping[str, Callable[[Matrix, Matrix], Matrix]] = MappingProxyType(
    {"loops": loops, "blocked": blocked, "packed": packed, "vectorised": vectorised, "parallel": parallel}
)


@njit(cache=True, nogil=True)
def _columns(a: Any, b: Any, c: Any, left: Any) -> None:
    """Compute TN columns of the product."""
    depth = a.shape[1]
    panel, sums = _panel(b, left), np.zeros((a.shape[0], TN), np.float32)  # (K, TN), (M, TN)
    totals, rows, weights = sums.reshape(-1), a.reshape(-1), panel.reshape(-1)
    for first in range(0, depth, DEPTH):
        for top in range(0, a.shape[0], TM):
            at, part = top * depth + first, min(DEPTH, depth - first)
            register_tile(totals, top * TN, rows, at, depth, weights, first * TN, part)  # type: ignore[call-arg]
    _store(sums, c, left)


@njit(cache=True, nogil=True)
def _panel(b: Any, left: int) -> Any:
    """Copy TN columns side by side, with zeros beyond the last column of ``b``."""
    panel = np.zeros((b.shape[0], TN), np.float32)
    width = min(TN, b.shape[1] - left)
    panel[:, :width] = b[:, left : left + width]
    return panel


@njit(cache=True, nogil=True)
def _store(sums: Any, c: Any, left: int) -> None:
    """Copy the sums of a panel to their place, without the rows and columns that only filled up a tile."""
    width = min(TN, c.shape[1] - left)
    c[:, left : left + width] = sums[: c.shape[0], :width]


def _run(multiply: Callable[[Matrix, Matrix, Matrix], None], a: Matrix, b: Matrix) -> Matrix:
    """Check the matrices, and multiply them, with rows of zeros below ``a`` to fill up the last tile."""
    for name, matrix in {"a": a, "b": b}.items():
        if not isinstance(matrix, np.ndarray) or matrix.dtype != np.float32 or matrix.ndim != 2 or not matrix.size:
            fact = f"{name} is {_described(matrix)}, not a float32 matrix with at least one element"
            raise argument_error(fact, _call(a, b), f"Convert {name} with np.asarray({name}, np.float32)")
    if a.shape[1] != b.shape[0]:
        fact = f"a has {a.shape[1]} columns, but b has {b.shape[0]} rows"
        raise argument_error(fact, _call(a, b), "Give a of shape (M, K) and b of shape (K, N)")
    c = np.zeros((len(a), b.shape[1]), np.float32)
    multiply(np.ascontiguousarray(np.pad(a, ((0, -len(a) % TM), (0, 0)))), np.ascontiguousarray(b), c)
    return c


def _described(matrix: object) -> str:
    return f"{matrix.dtype} of shape {matrix.shape}" if isinstance(matrix, np.ndarray) else f"a {type(matrix).__name__}"


def _call(a: object, b: object) -> str:
    return f"a · b, a is {_described(a)}, b is {_described(b)}"
