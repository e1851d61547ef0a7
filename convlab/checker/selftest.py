"""The checker, checked: answers must pass, stubs count as nothing, and mutants be rejected and named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from convlab import course
from convlab.checker.cells import cells_by_id, read_notebook
from convlab.checker.check import judge
from convlab.checker.exercises import EXERCISES
from convlab.checker.notebook import run_cells
from convlab.checker.record import Exercise
from convlab.executors.compile import compile
from convlab.executors.compiler import why_not as cannot_compile

__all__ = ["Problem", "answers", "as_learner_writes", "selftest"]

SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Problem:
    """What a check did not do as it should."""

    exercise: str
    what: str

    def __str__(self) -> str:
        return f"{self.exercise}: {self.what}"


def answers(folder: str = "solutions") -> dict[str, Any]:
    """What the cells of the notebooks in a folder define, by exercise: answers, or with "exercises" the stubs."""
    found: dict[str, Any] = {}
    for name, path in course.shipped(folder).items():
        if not name.endswith(".ipynb"):
            continue
        notebook = read_notebook(path)
        ids = [grade_id for grade_id in cells_by_id(notebook) if grade_id in EXERCISES]
        namespace: dict[str, Any] = {"__name__": "__main__"}
        run_cells(notebook, namespace)
        found |= {each: namespace.get(EXERCISES[each].function) for each in ids}
    return found


def as_learner_writes(record: Exercise, way: Any, answer: Any) -> Any:
    """A mutant's way as a learner would hand it in; ``answer`` is the right one."""
    if record.kind == "kernel":
        return compile(way, name=f"{record.function}.cu")
    return answer | way if record.kind == "values" else way


def selftest(seeds: Sequence[int] = SEEDS, progress: bool = True) -> list[Problem]:
    """Check all checks, on the data of several seeds; gives what went wrong."""
    right, stubs = answers(), answers("exercises")
    records = [record for record in EXERCISES.values() if record.kind != "kernel" or not cannot_compile()]
    bar = tqdm(records, unit="exercise", leave=False, disable=not progress)
    return [
        Problem(record.id, what)
        for record in bar
        for what in _problems(record, right.get(record.id), stubs.get(record.id), seeds)
    ]


def _problems(record: Exercise, answer: Any, stub: Any, seeds: Sequence[int]) -> Iterator[str]:
    # A question inside of a lesson has no solution notebook: its mutants are all there is to try.
    if answer is not None:
        verdicts = {seed: judge(record, answer, seed) for seed in seeds}
        yield from (f"seed {seed}: the answer: {verdict}" for seed, verdict in verdicts.items() if not verdict)
        if (verdict := judge(record, stub, seeds[0])).status != "not_attempted":
            yield f"the stub: {verdict}"
    for mutant in record.mutants:
        for way in mutant.ways:
            for seed in seeds:
                verdict = judge(record, as_learner_writes(record, way, answer), seed)
                if verdict.passed or verdict.diagnosis != mutant.name:
                    yield f"seed {seed}: {mutant.name!r} is taken for {verdict.diagnosis or verdict.status!r}"
