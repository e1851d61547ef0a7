"""The sizes of one convolution, validated once for everybody: shapes, work and compulsory bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from convlab.spec.axis import Axis, same_padding
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
    shown,
)

__all__ = ["ConvSpec", "GemmShape", "PaddingLike", "Traffic"]

PaddingLike = SupportsIndex | Sequence[SupportsIndex] | Literal["same", "valid"]

_BYTES_BEYOND_NUMPY = {"bfloat16": 2}


class GemmShape(NamedTuple):
    """The matrix product that one group of a convolution is: (gemm_m × gemm_k) · (gemm_k × gemm_n)."""

    gemm_m: int
    gemm_n: int
    gemm_k: int


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that move when each tensor crosses the memory bus exactly once."""

    input: int
    weights: int
    output: int
    total: int


@dataclass(frozen=True, slots=True, init=False)
class ConvSpec:
    """The sizes of a two-dimensional convolution, checked when made and immutable after.

    >>> spec = ConvSpec(n=1, c=3, h=224, w=224, k=32, r=3, s=3, stride=2, padding=1)
    >>> spec.output_shape, spec.macs
    ((1, 32, 112, 112), 10838016)
    >>> print(spec)
    1×3×224×224 → 32 filters 3×3, stride 2, padding 1

    Parameters, all integers (NumPy's too), at least 1 where nothing else is said:

    - ``n``, ``c``, ``h``, ``w``: the input's shape N, C, H, W;
    - ``k``, ``r``, ``s``: the number of filters K, their height R and width S;
    - ``stride``, ``dilation``: one number, or a pair (vertical, horizontal); kept as a pair;
    - ``padding``: rows and columns of zeros, at least 0: one number, a pair (vertical, horizontal), four
      numbers (top, bottom, left, right), "valid" (none), or "same" (P = ⌈H / stride⌉, Q = ⌈W / stride⌉, an
      odd row or column at the bottom or right); kept as four numbers;
    - ``groups``: G, a common divisor of C and K.

    Raises ``ValueError`` for anything else, for a window that does not fit into the padded input, and for
    tensors or work beyond 2⁶³ − 1. ``dataclasses.replace`` makes a changed copy; padding given as "same"
    stays the numbers that it became.
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
        padding: PaddingLike = 0,
        dilation: PairLike = 1,
        groups: SupportsIndex = 1,
    ) -> None:
        sizes = {"n": n, "c": c, "h": h, "w": w, "k": k, "r": r, "s": s}
        given = {**sizes, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        try:
            for name, value in _normalised(given).items():
                object.__setattr__(self, name, value)
            check_groups(self.c, self.k, self.groups)
            _check_windows(self)
            _check_range(self)
        except UnfitError as unfit:
            raise unfit.within(call_text("ConvSpec", given)) from None

    @classmethod
    def from_shapes(
        cls,
        x_shape: Sequence[SupportsIndex],
        w_shape: Sequence[SupportsIndex],
        stride: PairLike = 1,
        padding: PaddingLike = 0,
        dilation: PairLike = 1,
        groups: SupportsIndex = 1,
    ) -> ConvSpec:
        """Make the spec of the convolution of an input ``x`` with weights ``w``.

        >>> ConvSpec.from_shapes((2, 6, 9, 7), (4, 3, 3, 5), padding="same", groups=2).output_shape
        (2, 4, 9, 7)

        Parameters: ``x_shape`` is (N, C, H, W), ``w_shape`` is (K, C/G, R, S); the others are those of
        ``ConvSpec``. Raises ``ValueError`` that names x or w when a shape has another number of axes or an
        empty axis, or when the channels of the two do not match; otherwise as ``ConvSpec`` does.
        """
        options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        try:
            n, c, h, w = named_shape("x", x_shape, ("N", "C", "H", "W"))
            k, channels, r, s = named_shape("w", w_shape, ("K", "C/G", "R", "S"))
            _check_channels(c, k, channels, integer("groups", groups, least=1))
        except UnfitError as unfit:
            given = {"x_shape": x_shape, "w_shape": w_shape, **options}
            raise unfit.within(call_text("ConvSpec.from_shapes", given)) from None
        return cls(n, c, h, w, k, r, s, stride, padding, dilation, groups)

    @property
    def axes(self) -> tuple[Axis, Axis]:
        """The vertical and the horizontal axis, each with its own formula."""
        top, bottom, left, right = self.padding
        return (
            Axis("H", self.h, top, bottom, self.r, self.stride[0], self.dilation[0]),
            Axis("W", self.w, left, right, self.s, self.stride[1], self.dilation[1]),
        )

    @property
    def p(self) -> int:
        """The output's height."""
        return self.axes[0].outputs

    @property
    def q(self) -> int:
        """The output's width."""
        return self.axes[1].outputs

    @property
    def effective_r(self) -> int:
        """The rows that a dilated filter spans: dilation·(R − 1) + 1."""
        return self.axes[0].effective

    @property
    def effective_s(self) -> int:
        """The columns that a dilated filter spans: dilation·(S − 1) + 1."""
        return self.axes[1].effective

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, C, H, W)."""
        return self.n, self.c, self.h, self.w

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        """The shape (K, C/G, R, S)."""
        return self.k, self.c // self.groups, self.r, self.s

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        """The shape (N, K, P, Q)."""
        return self.n, self.k, self.p, self.q

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations, those with padding zeros included: N·K·P·Q·(C/G)·R·S."""
        return math.prod(self.output_shape) * self.gemm_shape.gemm_k

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-accumulate."""
        return 2 * self.macs

    @property
    def im2col_shape(self) -> Pair:
        """The shape ((C/G)·R·S, N·P·Q) of the matrix that im2col writes for each group."""
        return self.gemm_shape.gemm_k, self.gemm_shape.gemm_n

    @property
    def gemm_shape(self) -> GemmShape:
        """The matrix product of each group: K/G × (C/G)·R·S times (C/G)·R·S × N·P·Q."""
        return GemmShape(
            gemm_m=self.k // self.groups,
            gemm_n=self.n * self.p * self.q,
            gemm_k=self.c // self.groups * self.r * self.s,
        )

    def traffic(self, dtype: npt.DTypeLike) -> Traffic:
        """Count the compulsory bytes: input and weights read once, output written once.

        >>> ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1).traffic("float32")
        Traffic(input=65536, weights=9216, output=65536, total=140288)

        The whole input counts, pixels that no window touches included. Padding is never stored and does not
        count, nor does a bias.

        Parameters: ``dtype`` is the type of all three tensors: "bfloat16", or anything that ``numpy.dtype``
        accepts. Raises ``ValueError`` for a type without a size. Source: Williams, Waterman and Patterson,
        Roofline: an insightful visual performance model (2009), section 3.
        """
        try:
            size = _item_bytes(dtype)
        except UnfitError as unfit:
            raise unfit.within(repr(self)) from None
        x, w, y = (size * math.prod(shape) for shape in (self.input_shape, self.weight_shape, self.output_shape))
        return Traffic(input=x, weights=w, output=y, total=x + w + y)

    def intensity(self, dtype: npt.DTypeLike) -> float:
        """Give the arithmetic intensity, in FLOP per compulsory byte.

        >>> round(ConvSpec(n=1, c=16, h=32, w=32, k=16, r=3, s=3, padding=1).intensity("float32"), 2)
        33.64

        Parameters and errors are those of ``traffic``. No kernel can do better without a smaller type.
        """
        return self.flops / self.traffic(dtype).total

    def explain(self) -> str:
        """Give both output-size formulas with the numbers filled in, one line each.

        >>> print(ConvSpec(n=1, c=1, h=5, w=6, k=1, r=3, s=2, stride=(2, 1)).explain())
        P = ⌊(H + top + bottom − dilation·(R − 1) − 1) / stride⌋ + 1
          = ⌊(5 + 0 + 0 − 1·(3 − 1) − 1) / 2⌋ + 1 = 2
        Q = ⌊(W + left + right − dilation·(S − 1) − 1) / stride⌋ + 1
          = ⌊(6 + 0 + 0 − 1·(2 − 1) − 1) / 1⌋ + 1 = 5
        """
        return "\n".join(axis.explain() for axis in self.axes)

    def __str__(self) -> str:
        size, filters = "×".join(map(str, self.input_shape)), f"{self.k} filter{'s' * (self.k > 1)}"
        return f"{size} → {filters} {self.r}×{self.s}, {options_text(self)}"


def _normalised(given: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {name: integer(name, given[name], 1) for name in ("n", *"chwkrs", "groups")}
    values["stride"] = integers("stride", given["stride"], least=1, lengths=(2,))
    values["dilation"] = integers("dilation", given["dilation"], least=1, lengths=(2,))
    values["padding"] = _padding(given["padding"], values)
    return values


def _padding(padding: Any, values: Mapping[str, Any]) -> tuple[int, ...]:
    if not isinstance(padding, str):
        return paddings(padding)
    if padding == "valid":
        return 0, 0, 0, 0
    if padding != "same":
        raise UnfitError(f"padding={shown(padding)} is not a known name", 'Use "same", "valid" or numbers')
    sizes = (values["h"], values["w"]), (values["r"], values["s"]), values["stride"], values["dilation"]
    return tuple(pad for axis in zip(*sizes, strict=True) for pad in same_padding(*axis))


def _check_channels(c: int, k: int, channels: int, groups: int) -> None:
    if c % groups or channels == c // groups:
        return  # groups that do not divide c are the constructor's to refuse
    needed = c // groups
    fact = f"w has {channels} input channels per filter, but x has c={c} with groups={groups}, so it needs {needed}"
    fix = f"Give w the shape (K, {needed}, R, S)"
    if c % channels == 0 and k % (c // channels) == 0:
        fix += f", or use groups={c // channels}"
    raise UnfitError(fact, fix)


def _check_windows(spec: ConvSpec) -> None:
    for axis in spec.axes:
        if axis.problem is not None:
            lacking = f"{axis.effective - axis.padded} more {axis.lines} of padding"
            raise UnfitError(axis.problem.capitalize(), f"Use a smaller filter or dilation, or {lacking}")


def _check_range(spec: ConvSpec) -> None:
    rows, columns = spec.axes
    check_counts(
        {
            "The padded input has {} elements": spec.n * spec.c * rows.padded * columns.padded,
            "The weights have {} elements": math.prod(spec.weight_shape),
            "The output has {} elements": math.prod(spec.output_shape),
            "The work is {} multiply-accumulates": spec.macs,
        }
    )


def _item_bytes(dtype: npt.DTypeLike) -> int:
    if isinstance(dtype, str) and dtype in _BYTES_BEYOND_NUMPY:
        return _BYTES_BEYOND_NUMPY[dtype]
    try:
        size = 0 if dtype is None else np.dtype(dtype).itemsize  # NumPy would read None as float64
    except TypeError:
        size = 0
    if size == 0:
        fix = 'Use "bfloat16" or a NumPy type such as "float32"'
        raise UnfitError(f"dtype={shown(dtype)} has no size", fix)
    return size
