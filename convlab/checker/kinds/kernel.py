"""Answers that are kernels of CUDA C: they run on the emulator, with everything that it observes, and on a GPU too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from convlab.checker import guard
from convlab.checker.budgets import judged
from convlab.checker.compare import Finding, compare
from convlab.checker.faults import in_words
from convlab.checker.kinds.outcome import ENDED, PATIENCE, Attempt, Trial, agrees
from convlab.checker.launched import FaultFound, Launch, Launched, launched
from convlab.checker.record import Case, Exercise, Kernel
from convlab.checker.signatures import key, may_be
from convlab.errors import ConvlabError
from convlab.executors import cuda
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.module import Module
from convlab.magic import Uncompiled

__all__ = ["VARYING", "again", "attempt", "came_to", "imitate", "key_of", "launch_of", "matches", "missing", "unusable"]

VARYING = (
    "The result differs from run to run: it depends on which warp goes first.",
    "Which elements does one thread write that another one reads or writes, with nothing that orders the two?",
)
INSTRUCTIONS = 50_000  # of a launch: no answer needs a thousand, and a loop without an end is there in no time
COMPILING = 60.0  # seconds: at the first launches on a machine Numba compiles the emulator, which is not the learner's

_LINE = re.compile(r"line \d+")


def unusable(exercise: Exercise, answer: Any) -> str:
    """Say why a thing has no such kernel; empty when it has."""
    if not issubclass(type(answer), Module):  # isinstance would ask the answer for its class
        if type(answer) is Uncompiled:
            return "did not compile; mend the %%cuda cell and run it again"
        name = exercise.function
        return f"was expected, as %%cuda {name} makes it, but the answer is of type {guard.class_of(answer)}"
    return missing(exercise, list(answer.kernels))


def missing(exercise: Exercise, kernels: Sequence[str]) -> str:
    """Say that a module lacks the kernel that the exercise asks for; empty when it has it."""
    entry = _task(exercise).entry
    return (
        "" if entry in kernels else f"has no kernel {entry}; it has {guard.in_one_line(', '.join(kernels)) or 'none'}"
    )


def attempt(
    exercise: Exercise, answer: Module, case: Case, seconds: float, log: guard.Printed, order: int | None = None
) -> Attempt:
    """Launch the kernel on a case; first its faults count, then its output, then its budgets."""
    what, ours = launch_of(exercise, case, order), guard.Printed()  # the emulator's progress bar is not the learner's
    outcome = guard.call(launched, (answer, what), max(seconds, COMPILING), ours)
    if outcome.ended != "returned":
        return Attempt(ENDED[outcome.ended], Finding(outcome.sentence), outcome.error)
    came = came_to(exercise, case, outcome.value, log)
    if came.status == "ok" and cuda.available() and (problem := _on_gpu(exercise, answer, case)):
        return Attempt("wrong", replace(came.finding, problem=problem))
    return came


def again(exercise: Exercise, answer: Module, case: Case, order: int) -> Finding:
    """What the same launch gives when chance lets other warps go first."""
    return attempt(exercise, answer, case, PATIENCE, guard.Printed(), order).finding


def came_to(exercise: Exercise, case: Case, launched: Launched, log: guard.Printed) -> Attempt:
    """What a launch came to."""
    if launched.refused:
        return Attempt("error", Finding(f"cannot be launched: {guard.in_one_line(launched.refused, 160)}"))
    log.write(launched.printed)
    finding = _finding(exercise, case, launched)
    if np.isnan(launched.output).all() and not _errors(launched):
        return Attempt("not_attempted", replace(finding, problem=f"writes nothing to {_task(exercise).output} yet"))
    return Attempt("wrong" if finding.problem else "ok", finding)


def launch_of(exercise: Exercise, case: Case, order: int | None = None) -> Launch:
    """The launch of a case; ``order`` is the seed by which chance lets warps go first, if any."""
    task = _task(exercise)
    grid, block, shared = task.launch(*case.known)
    measures = tuple(budget.measure for budget in exercise.budgets)
    given = (task.entry, grid, block, shared, case.arguments, task.output, dict(task.letters), measures)
    return Launch(*given, INSTRUCTIONS, order)


def matches(exercise: Exercise, way: str, trials: Sequence[Trial]) -> bool:
    """Tell whether the trials look like those of a mutant's CUDA C."""
    screened = (may_be(key_of(exercise, way, trial.case), trial.finding) for trial in trials)
    return all(screened) and agrees(imitate, exercise, way, trials)


def key_of(exercise: Exercise, way: str, case: Case) -> str:
    """The key under which is recorded what a mutant does on a case."""
    limits = [float(budget.most(*case.known)) for budget in exercise.budgets]
    return key(way, launch_of(exercise, case), limits)


def imitate(exercise: Exercise, way: str, case: Case) -> Finding:
    """What a mutant's CUDA C does on a case."""
    return _finding(exercise, case, launched(_compiled(way), launch_of(exercise, case)))


@lru_cache(maxsize=256)
def _compiled(source: str) -> Module:
    return compile(source, name="mutant.cu")


def _task(exercise: Exercise) -> Kernel:
    assert exercise.kernel is not None, exercise.id
    return exercise.kernel


def _finding(exercise: Exercise, case: Case, launched: Launched) -> Finding:
    output, faults = launched.output, launched.faults
    finding = compare(case, output.astype(np.float64), exercise.oracle(*case.known), exercise.tolerance(*case.known))
    if any(fault.kind == "unwritten" for fault in faults) and np.isnan(output).any():
        finding = replace(finding, problem=_unwritten(case, output))
    if errors := _errors(launched):
        first = errors[0]
        finding = replace(finding, problem=f"has a fault in line {first.line}: {in_words(first)}")
    # With the array that is touched, so that two slips that leave the output right are told apart; lines depend on how
    # the code is laid out.
    kinds = frozenset(f"{fault.kind} {_LINE.sub('', fault.message.partition('[')[0])}" for fault in faults)
    return judged(replace(finding, faults=kinds, blocks=launched.blocks), exercise, case, launched.used)


def _unwritten(case: Case, output: Any) -> str:
    missing = np.argwhere(np.isnan(output))
    count = f"{len(missing)} of {output.size} elements are missing"
    return f"never writes {case.element([int(i) for i in missing[0]])}: {count}"


def _errors(launched: Launched) -> list[FaultFound]:
    """The faults that fail an answer, those of barriers first; what was never written is seen in the output."""
    failing = (fault for fault in launched.faults if fault.severity == "error" or fault.kind in ("race", "barrier"))
    return sorted(failing, key=lambda fault: fault.kind != "barrier")


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
