"""Every rung against the oracle: the cases of the tests, but on the hardware."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.kernels.layers import supported
from convlab.kernels.method import Matmul, Method
from convlab.kernels.ops import OPS
from on_gpu.sheet import Sheet
from tests.kernels.cases import CASES, RELATIVE
from tests.kernels.rungs import compare, moved, random_inputs

__all__ = ["check_method", "runs_on"]

SPECS = 8  # of a rung's cases, evenly taken from all of them
PATIENCE = 4.0  # seconds for a rung, after which no further spec begins


def runs_on(record: Method, device: str) -> bool:
    """Whether a method's steps can be done on a device: cuBLAS is on a GPU only."""
    if record.plan is None:
        return False
    spec = next(iter(supported(record).values()))
    return device == "cuda" or not any(isinstance(step, Matmul) for step in record.plan(spec).steps)


def check_method(record: Method, device: str, sheet: Sheet, most: int = SPECS) -> None:
    """Compute some specs, with poison in the output beforehand; raises at the first that is wrong."""
    done, start = 0, time.perf_counter()
    for number, spec in enumerate(_specs(record, most)):
        if done and time.perf_counter() - start > PATIENCE:
            break
        _check(record, spec, number, device)
        done += 1
    sheet.add("checks", {"method": record.name, "specs": done})


def _specs(record: Method, most: int) -> list[Any]:
    """The first layer that it supports, then cases of the tests: those for cuBLAS have none."""
    cases = CASES.get(record.name) or list(supported(record).values())
    return [next(iter(supported(record).values())), *cases[:: max(1, len(cases) // most)]][:most]


def _check(record: Method, spec: Any, seed: int, device: str) -> None:
    """As tests/kernels/rungs.py does it, without the emulator's observers."""
    op = OPS[record.op]
    assert record.plan is not None
    tensors = random_inputs(record, spec, seed, seed % 3 > 0)
    letters = op.axes(record.layout)
    given = {name: moved(array, op.letters.get(name), letters.get(name)) for name, array in tensors.items()}
    y = empty(op.shapes_in(spec, record.layout)["y"], record.output_dtype)
    run_plan(record.plan(spec), {**given, "y": y}, device, letters, observe=False)
    got = moved(y.view(np.ndarray), letters.get("y"), op.letters.get("y")).astype("f8")
    compare(record, spec, tensors, got, RELATIVE.get(record.name, 0.0))
