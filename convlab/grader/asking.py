"""Has a worker define an answer and try it, by the kind of exercise; what came of it is judged here.

A Python answer's process may lie about everything; a kernel's runs no Python of a student's, so that what is odd about
its replies is the grader's own failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from convlab.checker.compare import Finding
from convlab.checker.guard import Printed
from convlab.checker.kinds import KINDS, function, kernel
from convlab.checker.kinds.outcome import PATIENCE, Attempt
from convlab.checker.launched import FaultFound, Launched
from convlab.checker.record import Case, Exercise
from convlab.grader import replies, wire
from convlab.grader.process import EndedError, ForbiddenError, LateError, Worker
from convlab.grader.text import one_line

__all__ = ["Answer", "Asking", "FailedError", "StoppedError", "asking"]


class StoppedError(Exception):
    """There is nothing to try, or no more: the status of the answer, and a sentence."""

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(status, sentence)
        self.status, self.sentence = status, sentence


class FailedError(Exception):
    """A failure of the grader's own."""


@dataclass(frozen=True)
class Answer:
    """An answer as it was handed in: its text, the notebook's given cells, and the student's earlier answers."""

    record: Exercise
    text: str
    setting: Sequence[str]
    earlier: Sequence[str]


class Asking(Protocol):
    """An answer of one kind, as the grader's end of a worker sees it; the kind is that of the worker it needs."""

    kind: str

    def define(self, worker: Worker, seconds: float) -> None:
        """Have the worker define the answer; raises ``StoppedError`` where it cannot be one."""

    def attempt(self, worker: Worker, case: Case, seconds: float, log: Printed) -> Attempt:
        """Try the answer on a case."""

    def again(self, worker: Worker, case: Case, order: int) -> Finding:
        """What the same case gives when chance lets other warps go first; nothing where that makes no sense."""


class _Python:
    """Functions, and values: what a cell of Python defines."""

    kind = "python"

    def __init__(self, answer: Answer) -> None:
        self._given, self._record = answer, answer.record

    def define(self, worker: Worker, seconds: float) -> None:
        answer, record = self._given, self._record
        request = {"verb": "define", "function": record.function, "name": f"cell {record.id}", "answer": answer.text}
        given = {"setup": list(answer.setting), "earlier": list(answer.earlier), "allowed": list(record.allows)}
        header, _ = worker.ask({**request, **given}, [], seconds)
        outcome = replies.outcome(header)
        if outcome.ended != "returned":
            status = _STATUSES.get(outcome.error, "not_attempted" if outcome.ended == "unwritten" else "error")
            raise StoppedError(status, f"The cell {record.id} {outcome.sentence}.")
        if not header.get("answer"):
            raise StoppedError("error", f"The cell {record.id} defines no {record.function}.")
        self._answer = replies.stand_in(header)
        if problem := KINDS[record.kind].unusable(record, self._answer):
            raise StoppedError("error", f"{record.function} {problem}.")

    def attempt(self, worker: Worker, case: Case, seconds: float, log: Printed) -> Attempt:
        if self._record.kind == "values":  # which are here already
            return KINDS["values"].attempt(self._record, self._answer, case, seconds, log)
        packed, arrays = wire.pack(list(case.arguments.values()))
        request = {"verb": "call", "function": self._record.function, "arguments": packed}
        came = replies.called(worker.ask({**request, "memory": bool(self._record.budgets)}, arrays, seconds))
        log.write(came.printed)
        log.omitted += came.omitted
        if came.outcome.error in _STATUSES:
            raise StoppedError(_STATUSES[came.outcome.error], f"{self._record.function} {came.outcome.sentence}.")
        names = [name for name, value in case.arguments.items() if isinstance(value, np.ndarray)]
        changed = names[came.changed] if came.changed is not None and came.changed < len(names) else ""
        return function.came_to(self._record, case, came.outcome, changed, {"memory": came.memory}, log)

    def again(self, worker: Worker, case: Case, order: int) -> Finding:
        return _quietly(self.attempt, worker, case, PATIENCE, Printed())


# Of exceptions that are no mistake in a line.
_STATUSES = {"MemoryError": "out_of_memory", "_ArrayMemoryError": "out_of_memory"}

_CUDA = re.compile(r"\s*%%cuda[ \t]+(\w+)[ \t]*\n")
# Files that no answer includes: others' texts, by whatever path.
_NO_HEADER = re.compile(
    r'#\s*include\s*[<"]((?:/|\w:)[^>"\n]*|[^>"\n]*(?:\.\.|[\\~]|\.(?:cu|py|ipynb|json|csv|txt)\s*[>"])[^>"\n]*)'
)


class _Cuda:
    """Kernels: what a cell of CUDA C defines, and nothing but CUDA C."""

    kind = "cuda"

    def __init__(self, answer: Answer) -> None:
        self._record = record = answer.record
        head = _CUDA.match(answer.text)
        if head is None or head[1] != record.function:
            raise StoppedError("error", f"The cell {record.id} does not begin with %%cuda {record.function}.")
        # The first line stays as an empty one, so that lines count as they do in the cell.
        self._source = f"\n{answer.text[head.end() :]}"
        if reached := _NO_HEADER.search(self._source):
            name = one_line(reached[1].strip('">'), 100)
            raise StoppedError("forbidden", f"The cell {record.id} includes {name}, which is no header.")

    def define(self, worker: Worker, seconds: float) -> None:
        record = self._record
        request = {"verb": "define", "answer": self._source, "name": f"{record.function}.cu"}
        header, _ = self._ask(worker, request, [], seconds)
        if header["ended"] != "returned":
            raise StoppedError(_refusal(header), f"The cell {record.id} does not compile: {header['sentence']}")
        if problem := kernel.missing(record, header["kernels"]):
            raise StoppedError("error", f"{record.function} {problem}.")

    def attempt(self, worker: Worker, case: Case, seconds: float, log: Printed) -> Attempt:
        return kernel.came_to(self._record, case, self._launched(worker, case, seconds), log)

    def again(self, worker: Worker, case: Case, order: int) -> Finding:
        def attempt() -> Attempt:
            return kernel.came_to(self._record, case, self._launched(worker, case, PATIENCE, order), Printed())

        return _quietly(attempt)

    def _launched(self, worker: Worker, case: Case, seconds: float, order: int | None = None) -> Launched:
        what = kernel.launch_of(self._record, case, order)
        packed, arrays = wire.pack(list(what.arguments.values()))
        given = {name: value for name, value in vars(what).items() if name != "arguments"}
        request = {"verb": "call", "names": list(what.arguments), "arguments": packed, "launch": given}
        header, results = self._ask(worker, request, arrays, seconds)
        if header["ended"] != "returned":
            raise StoppedError(_refusal(header), f"{self._record.function} {header['sentence']}.")
        if header["refused"]:
            return Launched(np.zeros(0), refused=one_line(header["refused"]))
        output, *blocks = results
        faults = tuple(
            FaultFound(kind, grade, line, one_line(said, 1000)) for kind, grade, line, said in header["faults"]
        )
        used, printed = header["used"], header["printed"]
        return Launched(output, faults, used, printed, blocks=blocks[0] if blocks else None)

    def _ask(self, worker: Worker, request: dict[str, Any], arrays: list[Any], seconds: float) -> wire.Frame:
        header, results = worker.ask(request, arrays, seconds)
        if header["ended"] == "broken":
            raise FailedError(header["sentence"])
        return header, results


def _quietly(attempt: Callable[..., Attempt], *arguments: Any) -> Finding:
    """What one more attempt finds, which is nothing where it does not come to an end."""
    try:
        return attempt(*arguments).finding
    except (StoppedError, LateError, EndedError, ForbiddenError, replies.NonsenseError):
        return Finding()


def _refusal(header: dict[str, Any]) -> str:
    """The status of a source that is not compiled, or of a kernel that cannot run."""
    said = (status for words, status in _SAID.items() if words in header["sentence"])
    return next(said, _STATUSES.get(header["error"], "error"))


# What the compiler says of a source that is too much for it, and the status that this is.
_SAID = {"crashed or ran out of memory": "crashed", "out of memory": "out_of_memory"}


def asking(answer: Answer) -> Asking:
    """What asks a worker about an answer; raises ``StoppedError`` where the text alone shows that it is none."""
    return _Cuda(answer) if answer.record.kind == "kernel" else _Python(answer)
