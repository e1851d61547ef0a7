"""A SIMT machine that executes PTX thread for thread on a CPU, and observes it."""

from __future__ import annotations

from convlab.emulator.counters import UNOBSERVED, Counters
from convlab.emulator.faults import Fault
from convlab.emulator.machine import Result, run
from convlab.emulator.memory import Buffer
from convlab.emulator.parse import parse
from convlab.emulator.program import Entry, Param, Program

__all__ = ["UNOBSERVED", "Buffer", "Counters", "Entry", "Fault", "Param", "Program", "Result", "parse", "run"]
