"""Winograd's minimal filtering: the transforms derived from points, what they cost, and convolution with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt

from convlab.reference.checks import Array, argument_error, check_arrays
from convlab.reference.sums import rounded, sum_type, with_bias
from convlab.spec import ConvSpec

__all__ = ["Transforms", "Work", "transforms", "winograd_f2", "winograd_f4"]

Matrix = tuple[tuple[Fraction, ...], ...]
POINTS = (0, 1, -1, 2, -2, Fraction(1, 2), Fraction(-1, 2))  # small ones first: large powers cost accuracy


@dataclass(frozen=True, slots=True)
class Work:
    """What one tile of a two-dimensional convolution costs for each pair of channel and filter, or for each of one.

    ``products`` per channel and filter, against ``direct_products`` for the same outputs; additions of the input's
    transform per channel, of the output's per filter, of the filter's once.
    """

    products: int
    direct_products: int
    input_additions: int
    output_additions: int
    filter_additions: int


@dataclass(frozen=True, slots=True)
class Transforms:
    """The matrices of F(m, r), as exact fractions: y = Aᵀ · ((G · g) ⊙ (Bᵀ · d)).

    ``at`` is (m × a), ``g`` is (a × r), ``bt`` is (a × a), with a = m + r − 1 inputs of a tile.
    """

    m: int
    r: int
    at: Matrix
    g: Matrix
    bt: Matrix

    def arrays(self, dtype: npt.DTypeLike = "float64") -> tuple[Array, Array, Array]:
        """Give Aᵀ, G and Bᵀ as arrays.

        >>> [matrix.shape for matrix in transforms(2, 3).arrays("float32")]
        [(2, 4), (4, 3), (4, 4)]
        """
        at, g, bt = (np.array(matrix, dtype=dtype) for matrix in (self.at, self.g, self.bt))
        return at, g, bt

    def work(self) -> Work:
        """Count what a tile of m × m outputs of an r × r filter costs, row by row of the matrices.

        >>> transforms(2, 3).work()
        Work(products=16, direct_products=36, input_additions=32, output_additions=24, filter_additions=28)

        A factor that is neither 0 nor ±1 counts as no addition.
        """
        a = self.m + self.r - 1
        return Work(
            products=a**2,
            direct_products=(self.m * self.r) ** 2,
            input_additions=_additions(self.bt) * (a + a),
            output_additions=_additions(self.at) * (a + self.m),
            filter_additions=_additions(self.g) * (self.r + a),
        )


def transforms(m: int, r: int, points: Sequence[int | Fraction] = POINTS) -> Transforms:
    """Derive F(m, r), which gives m outputs of a filter with r taps by m + r − 1 products, from points.

    >>> for row in transforms(2, 3, (0, 1, -1)).bt:
    ...     print(*row)
    1 0 -1 0
    0 1 1 0
    0 -1 1 0
    0 -1 0 1

    A product of two polynomials, of m and of r coefficients, follows from its values at m + r − 1 points, each one
    product of two values (Toom and Cook); Lagrange's polynomials turn the values into coefficients. Filtering is the
    transpose of that in the first factor: evaluating the outputs becomes Aᵀ, evaluating the filter G, and Lagrange's
    coefficients, without their denominators, Bᵀ. The denominators go into G, which is computed once.

    Parameters: ``m`` outputs, ``r`` taps; the first m + r − 2 of ``points`` are used, and infinity, where a
    polynomial's value is its leading coefficient. Raises ``ArgumentError`` for too few points, and for equal ones.
    Source: Winograd, Arithmetic complexity of computations (1980); Lavin and Gray, Fast algorithms for convolutional
    neural networks (2015), section 4.
    """
    call = f"transforms(m={m}, r={r})"
    if m < 1 or r < 1:
        raise argument_error(f"m={m} outputs of r={r} taps are nothing to compute", call, "Give both at least 1")
    finite = [Fraction(point) for point in points[: m + r - 2]]
    if len(set(finite)) < m + r - 2:
        fact = f"F({m}, {r}) needs {m + r - 2} different points, but has {len(set(finite))}"
        raise argument_error(fact, call, "Add points, such as 3 and -3")
    others = [[q for q in finite if q != p] for p in finite]
    scales = [prod((p - q for q in rest), start=Fraction(1)) for p, rest in zip(finite, others, strict=True)]
    signs = [1 if scale > 0 else -1 for scale in scales]
    bt = [(*(sign * c for c in _polynomial(rest)), Fraction(0)) for sign, rest in zip(signs, others, strict=True)]
    g = [tuple(value / abs(scale) for value in _powers(p, r)) for p, scale in zip(finite, scales, strict=True)]
    at = zip(*[_powers(p, m) for p in finite], _leading(m), strict=True)
    return Transforms(m, r, tuple(at), (*g, _leading(r)), (*bt, _polynomial(finite)))


def winograd_f2(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve with 3×3 filters by F(2×2, 3×3): 16 products where the definition has 36.

    >>> spec = ConvSpec(n=2, c=4, h=5, w=6, k=6, r=3, s=3, padding=1, groups=2)
    >>> winograd_f2(np.ones(spec.input_shape), np.ones(spec.weight_shape), None, spec)[0, 0, 0]
    array([ 8., 12., 12., 12., 12.,  8.])

    Parameters and result are those of ``direct``, of floats only; the sums are kept in the type of ``x``, with at
    least 32 bits. Any padding and groups; outputs of a last tile that lie beyond the image are dropped. Raises
    ``ArgumentError`` also for other filters than 3×3, other strides and dilations than 1, and for integers, of which
    the filter's transform has halves.
    """
    return _winograd(x, w, bias, spec, _F2)


def winograd_f4(x: Array, w: Array, bias: Array | None, spec: ConvSpec) -> Array:
    """Convolve with 3×3 filters by F(4×4, 3×3): 36 products where the definition has 144, and larger errors.

    >>> spec = ConvSpec(n=2, c=4, h=5, w=6, k=6, r=3, s=3, padding=1, groups=2)
    >>> winograd_f4(np.ones(spec.input_shape), np.ones(spec.weight_shape), None, spec)[0, 0, 0].round(9)
    array([ 8., 12., 12., 12., 12.,  8.])

    Parameters, result and errors are those of ``winograd_f2``. Its factors of 4, 5 and 1/24 make its rounding errors
    about six times as large in float32.
    """
    return _winograd(x, w, bias, spec, _F4)


def _winograd(x: Array, w: Array, bias: Array | None, spec: ConvSpec, f: Transforms) -> Array:
    check_arrays(x, w, bias, spec)
    _check(x, spec)
    accumulator = sum_type(x.dtype)
    at, g, bt = f.arrays(accumulator)
    u = g @ w.astype(accumulator) @ g.T  # (K, C/G, a, a)
    v = bt @ _tiles(x.astype(accumulator), spec, f) @ bt.T  # (N, C, tiles down, tiles across, a, a)
    n, c, down, across, a, _ = v.shape
    u = u.reshape(spec.groups, -1, c // spec.groups, a, a).transpose(3, 4, 0, 1, 2)  # (a, a, G, K/G, C/G)
    v = v.reshape(n, spec.groups, -1, down * across, a, a).transpose(4, 5, 0, 1, 2, 3)  # (a, a, N, G, C/G, tiles)
    products = (u[:, :, np.newaxis] @ v).transpose(2, 3, 4, 5, 0, 1)  # (N, G, K/G, tiles, a, a)
    y = (at @ products @ at.T).reshape(n, spec.k, down, across, f.m, f.m)
    y = y.transpose(0, 1, 2, 4, 3, 5).reshape(n, spec.k, down * f.m, across * f.m)
    return rounded(with_bias(y[..., : spec.p, : spec.q], bias), x.dtype, spec)


def _tiles(x: Array, spec: ConvSpec, f: Transforms) -> Array:
    """Give tiles of a × a pixels, each m after the last, as a view; the last end in zeros."""
    top, _, left, _ = spec.padding
    a, down, across = f.m + f.r - 1, -(-spec.p // f.m), -(-spec.q // f.m)
    bottom, right = down * f.m + f.r - 1 - top - spec.h, across * f.m + f.r - 1 - left - spec.w
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    return np.lib.stride_tricks.sliding_window_view(padded, (a, a), axis=(2, 3))[:, :, :: f.m, :: f.m]


def _check(x: Array, spec: ConvSpec) -> None:
    if (spec.r, spec.s, *spec.stride, *spec.dilation) != (3, 3, 1, 1, 1, 1):
        fact = "winograd needs 3×3 filters with stride 1 and dilation 1"
        raise argument_error(fact, spec, "Use im2col, or another method that takes any filter")
    if not np.issubdtype(x.dtype, np.floating):
        fact = f"x is {x.dtype}, but winograd's filter transform has fractions"
        raise argument_error(fact, spec, "Convert x and w to float32")


def _powers(point: Fraction, count: int) -> tuple[Fraction, ...]:
    return tuple(point**i for i in range(count))


def _leading(count: int) -> tuple[Fraction, ...]:
    """Evaluate at infinity: the leading coefficient alone."""
    return tuple(Fraction(i == count - 1) for i in range(count))


def _polynomial(roots: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Multiply (x − root) out, and give the coefficients, lowest first."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted, scaled = [Fraction(0), *coefficients], [*coefficients, Fraction(0)]
        coefficients = [a - root * b for a, b in zip(shifted, scaled, strict=True)]
    return tuple(coefficients)


def _additions(matrix: Matrix) -> int:
    """Count the additions of a product with one vector."""
    return sum(max(0, sum(value != 0 for value in row) - 1) for row in matrix)


_F2, _F4 = transforms(2, 3), transforms(4, 3)
