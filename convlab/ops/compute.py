"""What all operations share: find the method, check the arrays, change layouts, run, and give the output back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import ArgumentError, LaunchError
from convlab.executors.plans import run_plan
from convlab.kernels.choose import choose
from convlab.kernels.ladder import method as find_method
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.kernels.ops import LAYOUTS, OPS, Op

__all__ = ["check_arrays", "compute", "shapes_in_nchw"]

Array = npt.NDArray[Any]


def compute(op: str, method: str, spec: Any, tensors: Mapping[str, Any], device: str, layout: str = "nchw") -> Array:
    """Compute an op by a method of the ladder.

    Parameters:
        op: its name in `convlab.kernels.ops.OPS`.
        method: a name of the ladder that belongs to the op, or "auto".
        spec: the sizes, which the caller made of the arrays' shapes.
        tensors: the inputs in the order of the op's table; optional ones may be ``None``.
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.
        layout: the layout of ``tensors``, and of the output.

    Raises:
        ValueError: the method is of another op, or does not support the spec.
        ArgumentError: an array of the wrong shape or dtype.
    """
    table = OPS[op]
    check_arrays(tensors)
    record = choose(op, spec, str(next(iter(tensors.values())).dtype)) if method == "auto" else find_method(method)
    if record.op != op:
        names = ", ".join(m.name for m in methods(op))
        raise ValueError(f"Method {method!r} computes {record.op}, not {op}. Methods that do: {names}.")
    reason = record.supports(spec)
    if reason is not None:
        raise ValueError(f"Method {record.name!r} does not support this {op}: {reason}\n  In: {spec!r}")
    _check_shapes(table, spec, tensors, layout)
    given = _in_layout(table, tensors, layout, record.layout)
    if record.reference is not None:
        if device not in ("auto", "cpu"):
            raise LaunchError(f"{record.name!r} is a reference method: it runs on the CPU, not on device={device!r}.")
        y = record.reference(*given.values(), spec)
    else:
        y = _launched(record, table, spec, given, device)
    result: Array = _in_layout(table, {"y": y}, record.layout, layout)["y"]
    return result


def check_arrays(tensors: Mapping[str, Any]) -> None:
    """Everything that is an input must be an array of NumPy or CuPy."""
    for name, array in tensors.items():
        if array is not None and not (isinstance(array, np.ndarray) or hasattr(array, "__cuda_array_interface__")):
            raise ArgumentError(f"{name} is {type(array).__name__}, not an array. Fix: pass np.asarray({name}).")


def shapes_in_nchw(op: str, tensors: Mapping[str, Any], layout: str) -> dict[str, tuple[int, ...]]:
    """The shapes that the tensors have in the op's own layout; raises ``ValueError`` for an unknown one."""
    if layout not in ("nchw", *LAYOUTS):
        raise ValueError(f"layout={layout!r} is none of 'nchw', {', '.join(map(repr, LAYOUTS))}.")
    before, after = OPS[op].axes(layout), OPS[op].letters
    return {
        name: _permuted(array.shape, before[name], after[name]) if array.ndim == len(after[name]) else array.shape
        for name, array in tensors.items()
        if array is not None
    }


def _launched(record: Method, op: Op, spec: Any, tensors: Mapping[str, Any], device: str) -> Any:
    assert record.plan is not None
    _check_types(record, op, spec, tensors)
    letters = op.axes(record.layout)
    x = next(iter(tensors.values()))
    shape = _permuted(spec.output_shape, op.letters.get("y", ""), letters.get("y", ""))
    y = np.empty(shape, record.output_dtype) if isinstance(x, np.ndarray) else type(x)(shape, record.output_dtype)
    ready = {
        name: None if array is None else _contiguous(array.astype(_dtype(record, op, name), copy=False))
        for name, array in tensors.items()
    }
    run_plan(record.plan(spec), {**ready, "y": y}, device, letters, observe=False)
    return y


def _check_shapes(op: Op, spec: Any, tensors: Mapping[str, Any], layout: str) -> None:
    """A kernel believes what it is told about sizes."""
    for name, shape in op.shapes(spec).items():
        letters = op.letters.get(name, "")
        wanted = _permuted(shape, letters, op.axes(layout).get(name, letters))
        if tensors[name] is not None and tensors[name].shape != wanted:
            raise ArgumentError(
                f"{name} has shape {tensors[name].shape}, but the sizes need {wanted}.\n  In: {spec!r}\n"
                f"  Fix: reshape {name}, or pass the sizes that it was made for."
            )


def _check_types(record: Method, op: Op, spec: Any, tensors: Mapping[str, Any]) -> None:
    """A kernel takes one type only."""
    for name, array in tensors.items():
        if array is not None and array.dtype not in {np.dtype(record.dtype), _dtype(record, op, name)}:
            raise ArgumentError(
                f"{name} is {array.dtype}, but method {record.name!r} computes in {record.dtype}.\n"
                f"  In: {spec!r}\n  Fix: pass {name}.astype('{record.dtype}')."
            )


def _dtype(record: Method, op: Op, name: str) -> np.dtype[Any]:
    return np.dtype(record.dtype if name in op.narrow else record.output_dtype)


def _in_layout(op: Op, tensors: Mapping[str, Any], source: str, target: str) -> dict[str, Any]:
    """The tensors with their axes in the order of another layout."""
    before, after = op.axes(source), op.axes(target)
    return {
        name: array
        if array is None or before.get(name) == after.get(name)
        else array.transpose([before[name].index(letter) for letter in after[name]])
        for name, array in tensors.items()
    }


def _permuted(shape: tuple[int, ...], before: str, after: str) -> tuple[int, ...]:
    return tuple(shape[before.index(letter)] for letter in after) if after else shape


def _contiguous(array: Any) -> Any:
    """Row by row; on a GPU from a multiple of 16 bytes on, which cp.async copies at a time, and a view may not do."""
    start = 0 if isinstance(array, np.ndarray) else array.__cuda_array_interface__["data"][0]  # NumPy's is copied later
    return array if array.flags.c_contiguous and start % 16 == 0 else array.copy(order="C")
