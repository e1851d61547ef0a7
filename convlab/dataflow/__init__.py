"""Loop nests on an array of processing elements: what stays, what moves, and what that costs."""

from __future__ import annotations

from convlab.dataflow.array import Array, Costs
from convlab.dataflow.counts import Counts, Traffic
from convlab.dataflow.executor import Execution, execute
from convlab.dataflow.fit import fit
from convlab.dataflow.nest import Loop, Nest
from convlab.dataflow.trace import Cycle, Move, Work

__all__ = [
    "Array",
    "Costs",
    "Counts",
    "Cycle",
    "Execution",
    "Loop",
    "Move",
    "Nest",
    "Traffic",
    "Work",
    "execute",
    "fit",
]
