"""Run a nest on real numbers: every word is moved through the machine's memories, and every move is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.dataflow.array import Array
from convlab.dataflow.counts import Counts
from convlab.dataflow.fit import fit
from convlab.dataflow.machine import Machine
from convlab.dataflow.nest import Nest
from convlab.dataflow.trace import Cycle, Recorder
from convlab.reference.checks import argument_error, check_shapes
from convlab.reference.im2col import unfold
from convlab.spec import ConvSpec

__all__ = ["Execution", "execute"]

TRACED = 100_000  # multiply-adds: each takes about a kilobyte


@dataclass(frozen=True, slots=True)
class Execution:
    """What a run gave: the output (N, K, P, Q), the counts, the nest as it ran, and the cycles where they were traced.

    Addresses in the trace are those of ``layer``: the spec, or the matrix product that a gemm nest computes.
    """

    output: npt.NDArray[np.float64]
    counts: Counts
    nest: Nest
    layer: ConvSpec
    trace: tuple[Cycle, ...] = ()


def execute(
    nest: Nest | str, spec: ConvSpec, x: npt.NDArray[Any], w: npt.NDArray[Any], array: Array, trace: bool = False
) -> Execution:
    """Run a nest on an array of PEs, word by word, in float64.

    >>> spec = ConvSpec(n=1, c=1, h=1, w=6, k=1, r=1, s=3)
    >>> x, w = np.arange(6.0).reshape(1, 1, 1, 6), np.array([1.0, 0.0, 2.0]).reshape(1, 1, 1, 3)
    >>> done = execute("buffer: q4 | regs: s3", spec, x, w, Array(rows=1, cols=1, registers=7, buffer=13))
    >>> done.output.ravel()
    array([ 4.,  7., 10., 13.])
    >>> done.counts["x", "buffer"].reads, done.counts["w", "buffer"].reads, done.counts.cycles
    (6, 3, 12)

    Parameters: ``x`` of shape (N, C, H, W) and ``w`` of shape (K, C/G, R, S); ``trace`` keeps every cycle for an
    animation. A run takes some ten microseconds for each multiply-add: `analyse` counts the same without running.
    Raises ``ValueError`` for a nest that does not fit and for a trace of more than 100,000 multiply-adds,
    ``ArgumentError`` for other shapes and for numbers that are not real.
    """
    nest = fit(nest, spec, array)
    check_shapes(x, w, None, spec)
    for name, values in (("x", x), ("w", w)):
        if not np.can_cast(values.dtype, np.float64, "same_kind"):
            fix = f"Convert {name} to float64"
            raise argument_error(f"{name} is {values.dtype}, and PEs multiply real numbers", spec, fix)
    if trace and spec.macs > TRACED:
        fix = "Fix: trace a smaller layer, or run without trace."
        raise ValueError(f"A trace of {spec.macs:,} multiply-adds is more than {TRACED:,}.\n  In: {spec}\n  {fix}")
    layer = nest.layer(spec)
    if nest.gemm:
        x, w = unfold(x, spec).transpose(1, 0, 2).reshape(layer.input_shape), w.reshape(layer.weight_shape)
    machine = Machine(nest, layer, x.astype("f8"), w.astype("f8"), array, Recorder(array) if trace else None)
    machine.run()
    output = machine.output()
    if nest.gemm:
        output = output.reshape(spec.k, spec.n, spec.p, spec.q).transpose(1, 0, 2, 3)
    return Execution(output, machine.counts(), nest, layer, machine.recorder.cycles() if machine.recorder else ())
