"""Random data for a method, and the check of its output, before which nothing is timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from math import prod, sqrt
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

from convlab.errors import ConvlabError
from convlab.kernels.ladder import method
from convlab.kernels.ops import OPS
from convlab.spec import SeparableSpec

__all__ = ["PIECES", "check", "op_of", "random_array", "random_inputs"]

Array = npt.NDArray[Any]

_PERIOD = 1_000_003  # a prime: no stride or image of a tensor is a multiple of it
_ROWS = 16

# Op → its method that is the oracle, in float64.
_ORACLES = {
    "conv2d": "direct",
    "conv_transpose2d": "transposed_matrix",
    "gemm": "blas",
    "layout": "layout_copy",
    "separable": "separable_direct",
    "block": "block_direct",
}

# Op → the spec of the same work on so many rows of its first input: images, or rows of a matrix.
PIECES: Mapping[str, Callable[[Any, int], Any]] = {
    "conv2d": lambda spec, rows: replace(spec, n=rows),
    "conv_transpose2d": lambda spec, rows: replace(spec, n=rows),
    "gemm": lambda spec, rows: replace(spec, gemm_m=rows),
    "layout": lambda spec, rows: replace(spec, n=rows),
    "separable": lambda spec, rows: SeparableSpec(replace(spec.depthwise, n=rows), spec.k),
    "block": lambda spec, rows: replace(spec, conv=replace(spec.conv, n=rows)),
}
_INPUT_ERRORS = {"tf32": 2.0**-11}  # what a type rounds that products are made of, beyond the arrays' own types


def op_of(spec: Any) -> str:
    """The name of the op whose sizes a spec is.

    >>> from convlab.spec import GemmSpec
    >>> op_of(GemmSpec(2, 3, 4))
    'gemm'

    Raises ``ValueError`` for what is no spec.
    """
    for name, op in OPS.items():
        if type(spec) is op.spec:
            return name
    kinds = ", ".join(op.spec.__name__ for op in OPS.values())
    raise ValueError(f"spec is {type(spec).__name__}, which has no sizes of an op.\n  Fix: pass one of {kinds}.")


def random_inputs(op: str, spec: Any, types: Callable[[str], str], layout: str = "nchw") -> dict[str, Array | None]:
    """The op's inputs, even random numbers from −1 to 1, in a layout and in the type that ``types`` gives for a name.

    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=2, h=5, w=4, k=3, r=3, s=1)
    >>> x, w, bias = random_inputs("conv2d", spec, lambda name: "float16").values()
    >>> x.shape, str(w.dtype), bias
    ((1, 2, 5, 4), 'float16', None)

    Optional inputs are there for a block only, which is about them. Large tensors repeat a million numbers. Who asks
    for the same again, as one method after the other does, gets the same arrays, which are read-only.
    """
    names = OPS[op].shapes(spec)
    return dict(_inputs(op, spec, tuple((name, np.dtype(types(name))) for name in names), layout))


@lru_cache(maxsize=2)
def _inputs(
    op: str, spec: Any, types: tuple[tuple[str, np.dtype[Any]], ...], layout: str
) -> tuple[tuple[str, Array | None], ...]:
    rng, table = np.random.default_rng(0), OPS[op]
    shapes, left_out = table.shapes_in(spec, layout), frozenset[str]() if op == "block" else table.optional
    made = {name: None if name in left_out else random_array(shapes[name], dtype, rng) for name, dtype in types}
    for array in made.values():
        if array is not None:
            array.flags.writeable = False
    return tuple(made.items())


def random_array(shape: tuple[int, ...], dtype: npt.DTypeLike, rng: np.random.Generator) -> Array:
    """Even random numbers from −1 to 1, which a large array repeats.

    >>> array = random_array((2, 3), "float16", np.random.default_rng(0))
    >>> array.shape, str(array.dtype), bool((abs(array) <= 1).all())
    ((2, 3), 'float16', True)

    Parameters: ``dtype`` is any that NumPy knows with ml_dtypes.
    """
    some = 2 * rng.random(min(prod(shape), _PERIOD), dtype=np.float32) - 1
    return np.resize(some.astype(dtype), shape)


def check(
    what: str,
    op: str,
    spec: Any,
    inputs: Mapping[str, Array | None],
    y: Array,
    layout: str = "nchw",
    products: str = "",
    expected: Array | None = None,
) -> None:
    """Hold an output against ``expected``, or its first and last images (rows) against the oracle in float64.

    Parameters: ``inputs`` and ``y`` are in ``layout``, ``expected`` too; ``products`` is "tf32" where products are made
    of that type. Raises ``ConvlabError`` for an element that is further off than rounding explains, or not a number.
    """
    parts = [(np.s_[:], expected)] if expected is not None else _pieces(op, spec, inputs, layout)
    for rows, values in parts:
        got = y[rows].astype(np.float64)
        if got.shape != values.shape:
            raise ConvlabError(f"{what} gives the shape {got.shape}, not {values.shape}.\n  In: {spec!r}\n{_FIX}")
        error = np.abs(got - values)
        allowed = _allowed(op, spec, y.dtype, products) + 2 * _eps(y.dtype) * np.abs(values) * (op != "layout")
        wrong = ~(error <= allowed)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ConvlabError(
                f"{what} is wrong in {wrong.sum():,} of {wrong.size:,} elements: [{', '.join(map(str, at))}] of the "
                f"{'result' if rows == np.s_[:] else 'piece checked'} is {got[at]:.6g}, not {values[at]:.6g}.\n"
                f"  In: {spec!r}\n{_FIX}"
            )


_FIX = "  Fix: only what is right is timed; of a kernel, device='emulator' says where it goes wrong."


def _pieces(op: str, spec: Any, inputs: Mapping[str, Array | None], layout: str) -> list[tuple[slice, Array]]:
    """The first and the last images, or rows, and what they must be."""
    first, x = next(iter(inputs.items()))
    assert x is not None
    count = _ROWS if op == "gemm" else 1
    rows = min(count, len(x))
    slices = [slice(0, rows)] if rows == len(x) else [slice(0, rows), slice(len(x) - rows, None)]
    return [(piece, _oracle(op, PIECES[op](spec, rows), {**inputs, first: x[piece]}, layout)) for piece in slices]


def _oracle(op: str, spec: Any, inputs: Mapping[str, Array | None], layout: str) -> Array:
    given, own, table = OPS[op].axes(layout), OPS[op].letters, method(_ORACLES[op])
    exact = [
        None if array is None else _moved(array.astype(np.float64), given.get(name, ""), own.get(name, ""))
        for name, array in inputs.items()
    ]
    assert table.reference is not None
    return _moved(table.reference(*exact, spec), own.get("y", ""), given.get("y", ""))


def _moved(array: Array, before: str, after: str) -> Array:
    same = before == after
    return array if same else np.ascontiguousarray(array.transpose([before.index(letter) for letter in after]))


def _allowed(op: str, spec: Any, dtype: np.dtype[Any], products: str) -> float:
    """What sums in float32 of numbers up to 1 may be off; generous where an algorithm sums more than it must.

    A missing product would be off by 0.25 on average.
    """
    if op == "layout":
        return 0.0
    terms: float = max(1.0, spec.macs / prod(spec.output_shape))
    return 4 * 2.0**-23 * (terms + 64) + 8 * _INPUT_ERRORS.get(products, 0.0) * sqrt(terms)


def _eps(dtype: np.dtype[Any]) -> float:
    finfo: Any = ml_dtypes.finfo
    return float(finfo(dtype).eps)
