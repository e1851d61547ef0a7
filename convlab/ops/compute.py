"""What all operations share: find the method, check the arrays, change layouts, run, and give the output back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import ArgumentError, LaunchError
from convlab.executors import cuda
from convlab.executors.plans import run_plan
from convlab.kernels.choose import ANY_GPU, choose
from convlab.kernels.ladder import method as find_method
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.kernels.ops import LAYOUTS, OPS, Op, permuted

__all__ = ["check_inputs", "compute", "shapes_in_nchw"]

Array = npt.NDArray[Any]


def compute(op: str, method: str, spec: Any, tensors: Mapping[str, Any], device: str, layout: str = "nchw") -> Array:
    """Compute an op by a method of the ladder.

    Args:
        op: its name in `convlab.kernels.ops.OPS`.
        method: a name of the ladder that belongs to the op, or "auto".
        spec: the sizes, which the caller made of the arrays' shapes.
        tensors: the inputs in the order of the op's table, seen by `check_inputs`; optional ones may be ``None``.
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.
        layout: the layout of ``tensors``, and of the output, which is contiguous in it.

    Raises:
        ValueError: the method is of another op, or does not support the spec.
        ArgumentError: an array of the wrong shape or dtype, or a reference method's on a GPU.
        LaunchError: a device that the method does not run on.
    """
    table = OPS[op]
    dtype = str(next(iter(tensors.values())).dtype)
    capability = cuda.capability() if device in ("auto", "cuda") and cuda.available() else ANY_GPU
    record = choose(op, spec, dtype, device, capability) if method == "auto" else _named(method, op, spec)
    _check_device(record, device, capability)
    _check_shapes(table, spec, tensors, layout)
    _check_types(record, table, spec, tensors)
    given = _in_layout(table, tensors, layout, record.layout)
    if record.reference is not None:
        _check_host(record, tensors)
        y = record.reference(*given.values(), spec)
    else:
        y = _launched(record, table, spec, given, device)
    result: Array = _contiguous(_in_layout(table, {"y": y}, record.layout, layout)["y"])
    return result


def check_inputs(op: str, tensors: Mapping[str, Any]) -> None:
    """Every input must be an array of NumPy or CuPy, but for optional ones, which may be ``None``."""
    for name, array in tensors.items():
        if array is None and name in OPS[op].optional:
            continue
        if not isinstance(array, np.ndarray) and not _on_gpu(array):
            raise ArgumentError(f"{name} is {type(array).__name__}, not an array. Fix: pass np.asarray({name}).")


def shapes_in_nchw(op: str, tensors: Mapping[str, Any], layout: str) -> dict[str, tuple[int, ...]]:
    """The shapes that the tensors have in the op's own layout.

    Raises ``ValueError`` for an unknown layout, and for an array that has not as many axes as the layout.
    """
    if layout not in ("nchw", *LAYOUTS):
        raise ValueError(f"layout={layout!r} is none of 'nchw', {', '.join(map(repr, LAYOUTS))}.")
    before, after = OPS[op].axes(layout), OPS[op].letters
    shapes = {name: array.shape for name, array in tensors.items() if array is not None}
    for name in LAYOUTS.get(layout, {}).keys() & shapes.keys():
        if len(shapes[name]) != len(before[name]):
            axes = ", ".join(before[name].upper())
            raise ValueError(
                f"{name} has shape {shapes[name]}, but with layout={layout!r} it needs ({axes}).\n"
                f"  Fix: give {name} {len(before[name])} axes."
            )
    return {name: permuted(shape, before[name], after[name]) for name, shape in shapes.items()}


def _named(method: str, op: str, spec: Any) -> Method:
    record = find_method(method)
    if record.op != op:
        names = ", ".join(m.name for m in methods(op))
        raise ValueError(f"Method {method!r} computes {record.op}, not {op}. Methods that do: {names}.")
    reason = record.supports(spec)
    if reason is not None:
        able = ", ".join(m.name for m in methods(op) if m.supports(spec) is None)
        raise ValueError(
            f"Method {method!r} does not support this {op}: {reason}\n  In: {spec!r}\n"
            f"  Fix: use method='auto', or one of {able}."
        )
    return record


def _launched(record: Method, op: Op, spec: Any, tensors: Mapping[str, Any], device: str) -> Any:
    assert record.plan is not None
    x, shape = next(iter(tensors.values())), op.shapes_in(spec, record.layout)["y"]
    y = np.empty(shape, record.output_dtype) if isinstance(x, np.ndarray) else type(x)(shape, record.output_dtype)
    ready = {
        name: None if array is None else _contiguous(array.astype(op.dtype(name, record), copy=False))
        for name, array in tensors.items()
    }
    run_plan(record.plan(spec), {**ready, "y": y}, device, op.axes(record.layout), observe=False)
    return y


def _check_device(record: Method, device: str, capability: int) -> None:
    if record.reference is not None and device not in ("auto", "cpu"):
        raise LaunchError(
            f"{record.name!r} is a reference method: it runs on the CPU, not on device={device!r}.\n"
            "  Fix: use method='auto', or one of the kernels in cl.methods(), or leave the device out."
        )
    if record.plan is not None and device == "cpu":
        raise LaunchError(
            f"{record.name!r} is a kernel: it runs on device='cuda' or 'emulator', not on the CPU.\n"
            "  Fix: leave the device out, or use a reference method."
        )
    if record.since > capability:
        raise LaunchError(
            f"{record.name!r} needs a GPU of compute capability {record.since / 10} or newer, and this one has"
            f" {capability / 10}.\n  Fix: use device='emulator', or method='auto'."
        )


def _check_host(record: Method, tensors: Mapping[str, Any]) -> None:
    for name, array in tensors.items():
        if _on_gpu(array):
            raise ArgumentError(
                f"{name} is on the GPU, but {record.name!r} is a reference method, which runs on the CPU.\n"
                f"  Fix: use method='auto', or pass {name}.get()."
            )


def _check_shapes(op: Op, spec: Any, tensors: Mapping[str, Any], layout: str) -> None:
    """A kernel believes what it is told about sizes."""
    wanted = op.shapes_in(spec, layout)
    for name, array in tensors.items():
        if array is not None and array.shape != wanted[name]:
            raise ArgumentError(
                f"{name} has shape {array.shape}, but the sizes need {wanted[name]}.\n  In: {spec!r}\n"
                f"  Fix: reshape {name}, or pass the sizes that it was made for."
            )


def _check_types(record: Method, op: Op, spec: Any, tensors: Mapping[str, Any]) -> None:
    """A kernel takes one type only, or wider ones where it adds; a reference method takes any, the same for all."""
    first, x = next(iter(tensors.items()))
    wanted = {name: x.dtype if record.dtype == "any" else np.dtype(op.dtype(name, record)) for name in tensors}
    wrong = {
        name: wanted[name]
        for name, array in tensors.items()
        if array is not None and array.dtype not in {wanted[name], wanted[first]}
    }
    for name, dtype in wrong.items():
        why = f"{first} is {dtype}" if record.dtype == "any" else f"method {record.name!r} takes {dtype} there"
        fix = ", ".join(f"{each}.astype('{type_}')" for each, type_ in wrong.items())
        fix += ", or use method='auto', which goes by the type" * (first in wrong)
        raise ArgumentError(f"{name} is {tensors[name].dtype}, but {why}.\n  In: {spec!r}\n  Fix: pass {fix}.")


def _in_layout(op: Op, tensors: Mapping[str, Any], source: str, target: str) -> dict[str, Any]:
    """The tensors with their axes in the order of another layout."""
    before, after = op.axes(source), op.axes(target)
    return {
        name: array
        if array is None or before.get(name) == after.get(name)
        else array.transpose([before[name].index(letter) for letter in after[name]])
        for name, array in tensors.items()
    }


def _on_gpu(array: Any) -> bool:
    """Whether an array is CuPy's: others that live on a GPU lack NumPy's methods."""
    return hasattr(array, "__cuda_array_interface__") and hasattr(array, "get")


def _contiguous(array: Any) -> Any:
    """Row by row; on a GPU from a multiple of 16 bytes on, which cp.async copies at a time, and a view may not do."""
    start = 0 if isinstance(array, np.ndarray) else array.__cuda_array_interface__["data"][0]  # NumPy's is copied later
    return array if array.flags.c_contiguous and start % 16 == 0 else array.copy(order="C")
