"""Run a rung on the emulator, watched by every observer, and hold its output against the oracle."""

from __future__ import annotations

import ml_dtypes  # noqa: F401 - makes "bfloat16" a type of NumPy's
import numpy as np

from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.kernels.ops import OPS

from .oracles import ORACLES, TERMS
from .specs import nonzero


def check_rung(name, spec, seed=0, optional=None, arch="compute_80", relative=0.0):
    """Run a method's plan on random tensors; no fault of any kind, and every element within its rounding bound.

    ``optional`` says whether the optional inputs are there; left out, a third of the seeds have none.
    ``relative`` is what a rung may be off beside rounding each of its sums, as a part of Σ|w·x|.
    Returns the runs.
    """
    record = method(name)
    assert record.supports(spec) is None
    op = OPS[record.op]
    tensors = random_inputs(record, spec, seed, seed % 3 > 0 if optional is None else optional)
    letters = op.axes(record.layout)
    given = {name: moved(array, op.letters.get(name), letters.get(name)) for name, array in tensors.items()}
    y = empty(op.shapes_in(spec, record.layout)["y"], record.output_dtype)
    runs = run_plan(record.plan(spec), {**given, "y": y}, "emulator", letters, arch, faults="record")
    assert [fault for run in runs for fault in run.faults] == []
    got = moved(y.view(np.ndarray), letters.get("y"), op.letters.get("y")).astype("f8")
    compare(record, spec, tensors, got, relative)
    return runs


def random_inputs(record, spec, seed, optional):
    """The op's inputs in its own layout and the method's types, without zeros; references are given float32."""
    op, rng = OPS[record.op], np.random.default_rng(seed)
    return {
        name: None
        if name in op.optional and not optional
        else nonzero(rng, shape).astype(op.dtype(name, record).replace("any", "float32"))
        for name, shape in op.shapes(spec).items()
    }


def compare(record, spec, tensors, got, relative):
    """Each sum in float32 rounds once; |w|·|x| bounds what is rounded."""
    exact = {name: None if array is None else array.astype("f8") for name, array in tensors.items()}
    expected = ORACLES[record.op](spec, **exact)
    bound = ORACLES[record.op](spec, **{name: None if a is None else abs(a) for name, a in exact.items()})
    accumulator = np.finfo("f4").eps / 2
    eps = 0 if record.op == "layout" else TERMS[record.op](spec) * accumulator
    error = np.abs(got - expected)
    assert got.shape == expected.shape
    assert (error <= (eps * 1.01 + relative) * bound).all(), (
        f"{record.name} is off by {np.nanmax(error / bound):.3g} of the bound's terms, {eps:.3g} allowed, on {spec!r}"
    )


def moved(array, before, after):
    """An array with its axes in another order, contiguous."""
    if array is None or before == after:
        return array
    return np.ascontiguousarray(array.transpose([before.index(letter) for letter in after]))
