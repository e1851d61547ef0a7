"""Loop nests on an array of processing elements: what stays, what moves, and what that costs."""

from __future__ import annotations

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array, Costs
from convlab.dataflow.counts import Counts, Traffic
from convlab.dataflow.executor import Execution, execute
from convlab.dataflow.fit import fit
from convlab.dataflow.kernels import KernelNest, kernel
from convlab.dataflow.named import (
    DATAFLOWS,
    Dataflow,
    input_stationary,
    output_stationary,
    row_stationary,
    systolic_gemm,
    weight_stationary,
)
from convlab.dataflow.nest import Loop, Nest
from convlab.dataflow.search import Found, search
from convlab.dataflow.trace import Cycle, Move, Work

__all__ = [
    "DATAFLOWS",
    "Array",
    "Costs",
    "Counts",
    "Cycle",
    "Dataflow",
    "Execution",
    "Found",
    "KernelNest",
    "Loop",
    "Move",
    "Nest",
    "Traffic",
    "Work",
    "analyse",
    "execute",
    "fit",
    "input_stationary",
    "kernel",
    "output_stationary",
    "row_stationary",
    "search",
    "systolic_gemm",
    "weight_stationary",
]
