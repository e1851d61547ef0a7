"""A SIMT machine that executes PTX thread for thread on a CPU, and observes it."""

from __future__ import annotations

from convlab.emulator.faults import Fault
from convlab.emulator.launch import Progress, Result, run
from convlab.emulator.memory import Buffer
from convlab.emulator.observers.counters import UNOBSERVED, Counters
from convlab.emulator.parse import parse
from convlab.emulator.program import Function, Param, Program

__all__ = [
    "UNOBSERVED",
    "Buffer",
    "Counters",
    "Fault",
    "Function",
    "Param",
    "Program",
    "Progress",
    "Result",
    "parse",
    "run",
]
