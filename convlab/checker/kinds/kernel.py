"""Answers that are kernels of CUDA C: they run on the emulator, with everything that it observes, and on a GPU too."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from convlab.checker import guard
from convlab.checker.budgets import judged
from convlab.checker.compare import Finding, compare
from convlab.checker.kinds.outcome import ENDED, Attempt, Trial, agrees
from convlab.checker.record import Case, Exercise, Kernel
from convlab.errors import ConvlabError
from convlab.executors import cuda
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import launch
from convlab.executors.module import Module
from convlab.executors.run import Run
from convlab.magic import Uncompiled

__all__ = ["attempt", "matches", "unusable"]

INSTRUCTIONS = 300_000  # of a launch: far more than any case needs, and soon reached by a loop without an end
_ARCH = "sm_80"  # whose registers count


def unusable(exercise: Exercise, answer: Any) -> str:
    """Say why a thing has no such kernel; empty when it has."""
    name, entry = exercise.function, _task(exercise).entry
    if not isinstance(answer, Module):
        if isinstance(answer, Uncompiled):
            return "did not compile; mend the %%cuda cell and run it again"
        return f"was expected, as %%cuda {name} makes it, but the answer is of type {type(answer).__name__}"
    kernels = list(answer.kernels)
    return "" if entry in kernels else f"has no kernel {entry}; it has {', '.join(kernels) or 'none'}"


def attempt(exercise: Exercise, answer: Module, case: Case, seconds: float, log: guard.Printed) -> Attempt:
    """Launch the kernel on a case; first its faults count, then its output, then its budgets."""
    outcome = guard.call(_launched, (exercise, answer, case), seconds, log)
    if outcome.ended != "returned":
        return Attempt(ENDED[outcome.ended], Finding(outcome.sentence), outcome.error)
    if isinstance(outcome.value, ConvlabError):
        return Attempt("error", Finding(f"cannot be launched: {_first_line(outcome.value)}"))
    run, output = outcome.value
    log.write(run.stdout)
    finding = _finding(exercise, case, run, output, answer)
    if np.isnan(output).all() and not _errors(run):
        return Attempt("not_attempted", replace(finding, problem=f"writes nothing to {_task(exercise).output} yet"))
    if not finding.problem and cuda.available():
        finding = replace(finding, problem=_on_gpu(exercise, answer, case))
    return Attempt("wrong" if finding.problem else "ok", finding)


def _launched(exercise: Exercise, module: Module, case: Case) -> tuple[Run, Any] | ConvlabError:
    """The run and its output, or why there is none: that is the learner's signature, and no failure of ours."""
    try:
        return _run(exercise, module, case)
    except ConvlabError as error:
        return error


def _first_line(error: ConvlabError) -> str:
    return guard.in_one_line(str(error).partition("\n")[0]).rstrip(".")


def matches(exercise: Exercise, way: str, trials: Sequence[Trial]) -> bool:
    """Tell whether the trials look like those of a mutant's CUDA C."""
    return agrees(_imitate, exercise, way, trials)


def _imitate(exercise: Exercise, way: str, case: Case) -> Finding:
    module = _compiled(way)
    run, output = _run(exercise, module, case)
    return _finding(exercise, case, run, output, module)


@lru_cache(maxsize=256)
def _compiled(source: str) -> Module:
    return compile(source, name="mutant.cu")


def _task(exercise: Exercise) -> Kernel:
    assert exercise.kernel is not None, exercise.id
    return exercise.kernel


def _run(exercise: Exercise, module: Module, case: Case) -> tuple[Run, Any]:
    """Launch on the emulator, with an output that counts as never written."""
    task = _task(exercise)
    arguments = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in case.arguments.items()
    }
    output = arguments[task.output]
    arguments[task.output] = empty(output.shape, output.dtype)
    grid, block, shared = task.launch(*case.known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # milder faults are judged with the others
        run = launch(
            module.kernels[task.entry],
            grid,
            block,
            list(arguments.values()),
            shared=shared,
            device="emulator",
            faults="record",
            budget=INSTRUCTIONS,
            axes=dict(task.letters),
        )
    return run, np.asarray(arguments[task.output])


def _finding(exercise: Exercise, case: Case, run: Run, output: Any, module: Module) -> Finding:
    finding = compare(case, output.astype(np.float64), exercise.oracle(*case.known), exercise.tolerance(*case.known))
    errors = _errors(run)
    if any(fault.kind == "unwritten" for fault in run.faults) and np.isnan(output).any():
        finding = replace(finding, problem=_unwritten(case, output))
    if errors:
        first = errors[0]
        finding = replace(finding, problem=f"has a fault in line {first.line}: {first.message.rstrip('.')}")
    # With the array that is touched, so that two slips that leave the output right are told apart.
    faults = frozenset(f"{fault.kind} {fault.message.partition('[')[0]}" for fault in run.faults)
    finding = replace(finding, faults=faults)
    return judged(finding, exercise, case, _used(exercise, run, module))


def _unwritten(case: Case, output: Any) -> str:
    missing = np.argwhere(np.isnan(output))
    count = f"{len(missing)} of {output.size} elements are missing"
    return f"never writes {case.element([int(i) for i in missing[0]])}: {count}"


def _errors(run: Run) -> list[Any]:
    """The faults that fail an answer; what was never written is seen in the output."""
    return [fault for fault in run.faults if fault.severity == "error" or fault.kind in ("race", "barrier")]


def _used(exercise: Exercise, run: Run, module: Module) -> Mapping[str, float]:
    """What the run counted, as far as a budget asks for it."""
    measures = {budget.measure for budget in exercise.budgets}
    used = {measure: float(run.counters[measure]) for measure in measures - {"registers"}}
    if "registers" in measures:
        used["registers"] = module.kernels[_task(exercise).entry].resources[_ARCH].registers
    return used


def _on_gpu(exercise: Exercise, module: Module, case: Case) -> str:
    """What a real GPU finds wrong in a kernel that the emulator finds right; empty where it agrees."""
    task = _task(exercise)
    arguments = dict(case.arguments)
    arguments[task.output] = np.full_like(arguments[task.output], np.nan)
    grid, block, shared = task.launch(*case.known)
    try:
        launch(module.kernels[task.entry], grid, block, list(arguments.values()), shared=shared, device="cuda")
    except ConvlabError as error:
        return f"runs on the emulator and not on this GPU: {guard.in_one_line(error)}"
    expected, tolerance = exercise.oracle(*case.known), exercise.tolerance(*case.known)
    problem = compare(case, arguments[task.output].astype(np.float64), expected, tolerance).problem
    return f"is right on the emulator, and on this GPU it {problem}" if problem else ""
