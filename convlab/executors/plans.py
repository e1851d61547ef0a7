"""Carry out a plan: each of its steps, one after the other, on one executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import choose, launch, report
from convlab.executors.run import Run
from convlab.kernels.method import Launch, Matmul, Plan

__all__ = ["run_plan"]


def run_plan(
    plan: Plan,
    tensors: Mapping[str, Any],
    device: str = "auto",
    axes: Mapping[str, str] | None = None,
    arch: str = "compute_80",
    faults: str = "raise",
    **options: Any,
) -> list[Run]:
    """Launch what a plan says, and give the run of each launch.

    >>> import numpy as np
    >>> from convlab.kernels.ladder import method
    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=2, h=5, w=6, k=3, r=3, s=3)
    >>> x, w, y = (np.ones(shape, "f4") for shape in (spec.input_shape, spec.weight_shape, spec.output_shape))
    >>> tensors = {"x": x, "w": w, "bias": None, "y": y}
    >>> (run,) = run_plan(method("naive").plan(spec), tensors, device="emulator")
    >>> run.counters.flop, float(y.max())
    (1296, 18.0)

    Args:
        plan: what a method's ``plan`` made of a spec.
        tensors: the op's arrays by name, C-contiguous, of the method's types and layout; ``y`` is written.
        device: "auto", "cuda" or "emulator".
        axes: the letters of the tensors' axes, for messages.
        arch: the virtual architecture to compile for, on the emulator.
        faults: "raise" (milder ones only warn), or "record" to get the runs back with their faults.
        options: further ones of `convlab.executors.launch.launch`.

    Raises what ``launch`` raises, and ``LaunchError`` for a step that only a GPU can do.
    """
    chosen = choose(device)
    if chosen == "emulator":
        arrays = {**tensors, **{name: empty(shape, dtype) for name, (shape, dtype) in plan.scratch.items()}}
        return [
            _step(step, arrays, chosen, axes or {}, arch, faults, options, partial=step is not plan.steps[-1])
            for step in plan.steps
        ]
    with cuda.on_device(tensors, plan.scratch) as moved:
        return [_step(step, moved, chosen, axes or {}, arch, faults, options) for step in plan.steps]


def _step(
    step: Launch | Matmul,
    tensors: Mapping[str, Any],
    device: str,
    axes: Mapping[str, str],
    arch: str,
    faults: str,
    options: Mapping[str, Any],
    partial: bool = False,
) -> Run:
    """One step; where it is ``partial``, a later one may write what it leaves unwritten."""
    if isinstance(step, Matmul):
        if device != "cuda":
            raise LaunchError(
                "cuBLAS multiplies matrices on a GPU only.\n"
                "  Fix: use method='im2col_gemm', whose kernels run on the emulator too."
            )
        return cuda.matmul(*(tensors[name].reshape(shape) for name, shape in (step.a, step.b, step.out)))
    module = compile(step.text(), step.source, arch, step.options)
    for variable, (tensor, start, stop) in step.constants.items():
        module.write(variable, tensors[tensor].reshape(-1)[start:stop])
    kernel = module.kernels[step.entry]
    arguments = [tensors[each] if isinstance(each, str) else each for each in step.arguments]
    given = zip(kernel.parameters, step.arguments, strict=True)
    named = {parameter.name: axes[each] for parameter, each in given if isinstance(each, str) and each in axes}
    run = launch(kernel, step.grid, step.block, arguments, step.shared, device, faults="record", axes=named, **options)
    if partial:
        run = replace(run, faults=[fault for fault in run.faults if fault.kind != "unwritten"])
    if faults == "raise":
        report(run, kernel)
    return run
