"""Launches a kernel on the emulator for a check, and keeps what the check needs of it: plain data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.emulator.observers.writers import Writers
from convlab.errors import ConvlabError
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.executors.module import Module
from convlab.executors.run import Run

__all__ = ["FaultFound", "Launch", "Launched", "launched"]

_ARCH = "sm_80"  # whose registers count
Shape = int | tuple[int, ...]


@dataclass(frozen=True)
class Launch:
    """A launch: the kernel's name, grid, block, bytes of shared memory, arguments by name, the one that is the output,
    the axes of arrays, the measures that are asked for, after how many instructions it has no end, and the seed by
    which chance lets warps go first, if any.
    """

    entry: str
    grid: Shape
    block: Shape
    shared: int
    arguments: Mapping[str, Any]
    output: str
    letters: Mapping[str, str]
    measures: tuple[str, ...]
    instructions: int
    order: int | None = None


class FaultFound(NamedTuple):
    """What a check needs of a fault."""

    kind: str
    severity: str
    line: int
    message: str


@dataclass(frozen=True, eq=False)
class Launched:
    """What a launch came to: output, faults, measures by name, what was printed; ``refused`` says why there is none.

    ``blocks`` tells which block wrote each element of the output, as ``Writers`` does. A refused launch is the
    learner's signature, and no failure of ours.
    """

    output: npt.NDArray[Any]
    faults: tuple[FaultFound, ...] = ()
    used: Mapping[str, float] = field(default_factory=dict)
    printed: str = ""
    refused: str = ""
    blocks: npt.NDArray[np.intp] | None = None


def launched(module: Module, what: Launch) -> Launched:
    """Launch on the emulator, with an output that counts as never written."""
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in what.arguments.items()
    }
    output = arguments[what.output] = empty(arguments[what.output].shape, arguments[what.output].dtype)
    writers = Writers(output)
    try:
        run = _run(module, what, list(arguments.values()), writers)
        faults = tuple(FaultFound(each.kind, each.severity, each.line, each.message) for each in run.faults)
        used = _used(module, what, run)
        return Launched(np.array(output), faults, used, run.stdout, blocks=writers.blocks())
    except ConvlabError as error:
        return Launched(np.zeros(0), refused=_first_line(error))


def _run(module: Module, what: Launch, arguments: list[Any], writers: Writers) -> Run:
    kernel = module.kernels[what.entry]
    own = [parameter.name for parameter in kernel.parameters]  # which may be other names than the task's
    axes = {
        name: what.letters[given] for given, name in zip(what.arguments, own, strict=False) if given in what.letters
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # milder faults are judged with the others
        return launch(
            kernel,
            what.grid,
            what.block,
            arguments,
            shared=what.shared,
            device="emulator",
            faults="record",
            budget=what.instructions,
            axes=axes,
            seed=what.order,
            observers=[writers],
        )


def _used(module: Module, what: Launch, run: Run) -> Mapping[str, float]:
    """What the run counted, as far as a budget asks for it."""
    used = {measure: float(run.counters[measure]) for measure in what.measures if measure != "registers"}
    if "registers" in what.measures:
        used["registers"] = module.kernels[what.entry].resources[_ARCH].registers
    return used


def _first_line(error: ConvlabError) -> str:
    return " ".join(str(error).partition("\n")[0].split()).rstrip(".")
