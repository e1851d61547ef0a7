"""Runs with a trace, for pictures of what threads and lanes do: a method's launches, or one launch of another form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from convlab.executors.plans import run_plan
from convlab.executors.run import Run
from convlab.kernels.ladder import method
from convlab.kernels.method import Launch, Plan
from convlab.kernels.ops import OPS

__all__ = ["Warps", "letters", "plan_of", "trace_launch", "trace_method"]

Warps = tuple[int | None, int | None]  # (block, warp); None stands for all


def letters(name: str, spec: Any) -> Mapping[str, str]:
    """The axes of the tensors of a method, such as ``{"x": "nchw"}``."""
    record = method(name)
    own = {"x": spec.source, "y": spec.target} if record.op == "layout" else {}
    return {**OPS[record.op].axes(record.layout), **own}


def trace_launch(name: str, spec: Any, step: Launch, warps: Warps = (None, None)) -> Run:
    """Run one launch with the tensors of a method, all zeros and without a bias; nothing is counted.

    >>> from convlab.spec import ConvSpec
    >>> spec = ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=3)
    >>> len(trace_launch("naive", spec, plan_of("naive", spec).launches[0]).traces)
    8
    """
    return _run(name, spec, Plan((step,)), warps, observe=False)[0]


@lru_cache(maxsize=96)  # more than the states that a reader goes back to
def trace_method(name: str, spec: Any, warps: Warps = (0, 0)) -> Run:
    """Run a method on tensors of zeros, without a bias, and give the run of its last launch, which writes the output.

    >>> from convlab.spec import ConvSpec
    >>> trace_method("naive", ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=3)).trace.warp
    0

    Raises ``ValueError``, with the method's reason, for a spec that it does not support.
    """
    return _run(name, spec, plan_of(name, spec), warps)[-1]


def plan_of(name: str, spec: Any) -> Plan:
    """Give the plan of a method for a spec.

    >>> from convlab.spec import ConvSpec
    >>> plan_of("naive", ConvSpec(n=1, c=1, h=4, w=5, k=7, r=3, s=3)).launches[0].grid
    (1, 7, 1)

    Raises ``ValueError``, with the method's reason, for a spec that it does not support.
    """
    record = method(name)
    if record.plan is None:
        raise ValueError(f"{name} runs on the CPU, and launches no kernel.\n  Fix: choose a method with kernels.")
    if (reason := record.supports(spec)) is not None:
        raise ValueError(f"{reason}\n  In: {spec}\n  Fix: choose another method than {name}, or other sizes.")
    return record.plan(spec)


def _run(name: str, spec: Any, plan: Plan, warps: Warps, observe: bool = True) -> list[Run]:
    record = method(name)
    op = OPS[record.op]
    shapes = op.shapes_in(spec, record.layout)
    tensors: dict[str, Any] = {each: np.zeros(shape, op.dtype(each, record)) for each, shape in shapes.items()}
    tensors |= dict.fromkeys(op.optional)
    options: dict[str, Any] = {"device": "emulator", "faults": "record", "trace": warps, "observe": observe}
    return run_plan(plan, tensors, axes=letters(name, spec), **options)
