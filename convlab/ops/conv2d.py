"""One function for every method: check the arrays, plan, launch, and give the output back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import ArgumentError, LaunchError
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.ladder import AXES, Method, Plan
from convlab.kernels.ladder import method as find_method
from convlab.spec import ConvSpec, PaddingLike, PairLike

__all__ = ["conv2d"]

Array = npt.NDArray[Any]


def conv2d(
    x: Array,
    w: Array,
    bias: Array | None = None,
    stride: PairLike = 1,
    padding: PaddingLike = 0,
    dilation: PairLike = 1,
    groups: int = 1,
    method: str = "direct",
    device: str = "auto",
) -> Array:
    """Convolve a batch of images with a bank of filters, by any method of the ladder.

    >>> rng = np.random.default_rng(0)
    >>> x, w = rng.standard_normal((2, 3, 9, 7), "f4"), rng.standard_normal((4, 3, 3, 2), "f4")
    >>> y = conv2d(x, w, stride=2, padding="same", method="naive", device="emulator")
    >>> y.shape, bool(np.allclose(y, conv2d(x, w, stride=2, padding="same"), atol=1e-5))
    ((2, 4, 5, 4), True)

    Args:
        x: input of shape (N, C, H, W).
        w: filters of shape (K, C/G, R, S), of the same dtype.
        bias: shape (K,), or ``None``.
        stride: one number or (vertical, horizontal).
        padding: a number, a pair, (top, bottom, left, right), "same" or "valid".
        dilation: one number or (vertical, horizontal).
        groups: G.
        method: a name from ``cl.methods()``.
        device: "auto", "cuda" or "emulator" for kernels; "auto" or "cpu" for reference methods.

    Returns:
        The output of shape (N, K, P, Q), in the type of x.

    Raises:
        ValueError: sizes that fit no convolution, or that the method does not support.
        ArgumentError: an array of the wrong shape or dtype.
        KernelFault: a kernel that left its arrays; conv2d runs without counters, but never without bounds.
    """
    for name, array in {"x": x, "w": w, "bias": bias}.items():
        if array is not None and not isinstance(array, np.ndarray):
            raise ArgumentError(f"{name} is {type(array).__name__}, not an array. Fix: pass np.asarray({name}).")
    record = find_method(method)
    spec = ConvSpec.from_shapes(x.shape, w.shape, stride, padding, dilation, groups)
    reason = record.supports(spec)
    if reason is not None:
        raise ValueError(f"Method {method!r} does not support this convolution: {reason}\n  In: {spec!r}")
    if record.reference is not None:
        if device not in ("auto", "cpu"):
            raise LaunchError(f"{method!r} is a reference method: it runs on the CPU, not on device={device!r}.")
        return record.reference(x, w, bias, spec)
    assert record.plan is not None
    _check(record, spec, x, w, bias)
    return run_plan(record.plan(spec), spec, x, w, bias, device)


def run_plan(plan: Plan, spec: ConvSpec, x: Array, w: Array, bias: Array | None, device: str) -> Array:
    """Launch what a plan says, one after the other, and return y."""
    y = np.empty(spec.output_shape, x.dtype)
    tensors: dict[str, Array | None] = {
        "x": np.ascontiguousarray(x),
        "w": np.ascontiguousarray(w),
        "bias": None if bias is None else np.ascontiguousarray(bias),
        "y": y,
        **{name: np.empty(shape, dtype) for name, (shape, dtype) in plan.scratch.items()},
    }
    for step in plan.launches:
        kernel = compile(step.text(), name=step.source).kernels[step.entry]
        arguments = [tensors[a] if isinstance(a, str) else a for a in step.arguments]
        launch(kernel, step.grid, step.block, arguments, step.shared, device, observe=False, axes=AXES)
    return y


def _check(record: Method, spec: ConvSpec, x: Array, w: Array, bias: Array | None) -> None:
    """A kernel takes one type only, and believes what it is told about sizes."""
    for name, array in {"x": x, "w": w, "bias": bias}.items():
        if array is not None and array.dtype != record.dtype:
            raise ArgumentError(
                f"{name} is {array.dtype}, but method {record.name!r} computes in {record.dtype}.\n"
                f"  In: {spec!r}\n  Fix: pass {name}.astype('{record.dtype}')."
            )
    if bias is not None and bias.shape != (spec.k,):
        raise ArgumentError(
            f"bias has shape {bias.shape}, but k={spec.k} filters need ({spec.k},).\n  In: {spec!r}\n"
            f"  Fix: pass one number for each filter."
        )
