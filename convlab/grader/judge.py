"""Judges one answer of a student: it runs in an isolated worker, and its verdict is formed here.

Of a Python answer the grader takes what it returned, and holds that against the oracle itself; only the memory that it
used, and that it left its inputs alone, is what its own process says. Of a kernel it takes output, faults and counters,
from a process in which no Python of a student's runs.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np

from convlab.checker.diagnose import Again, diagnose
from convlab.checker.exercises import exercise
from convlab.checker.guard import Printed
from convlab.checker.kinds.outcome import Trial
from convlab.checker.record import Exercise
from convlab.grader.asking import Answer, FailedError, StoppedError, asking
from convlab.grader.isolation import Isolation, Limits
from convlab.grader.mark import CaseMark, Mark
from convlab.grader.process import EndedError, ForbiddenError, LateError, Worker
from convlab.grader.replies import NonsenseError
from convlab.grader.setting import setting
from convlab.grader.text import one_line

__all__ = ["judge"]

_CELL = 10.0  # seconds for a cell, to run or to compile
_LONGEST = 200_000  # characters of an answer
_SLACK = 0.5  # seconds that passing things on may take in all
_CPU = getattr(signal, "SIGXCPU", 24)  # the signal at the limit of computing time
_PATH = re.compile(r"(?<![\w.:/])(?:/[\w.+-]+){2,}|\b[A-Za-z]:\\[\w.+\\-]+")


def judge(
    exercise_id: str, answer: str, seed: int, limits: Limits, isolation: Isolation, earlier: Sequence[str] = ()
) -> Mark:
    """Judge an answer on the data of one seed.

    Parameters: ``answer``, the text of the student's cell, the line with ``%%cuda`` included; ``earlier``, the texts
    of the student's answers that come before it in the notebook: what the answer uses of them is run first.
    """
    record, began = exercise(exercise_id), time.monotonic()
    trials: list[Trial] = []
    handed_in = Answer(record, answer, setting(exercise_id), earlier)
    try:
        if len(answer) > _LONGEST:
            raise StoppedError("malformed", f"The cell {record.id} has {len(answer):,} characters.")
        mark = _try(handed_in, seed, limits, isolation, trials)
    except StoppedError as stopped:
        mark = _without(record, stopped.status, stopped.sentence, trials)
    except FailedError as failed:
        mark = _without(record, "grader_error", f"The grader failed: {failed}", trials)
    return _finished(mark, time.monotonic() - began)


def _try(answer: Answer, seed: int, limits: Limits, isolation: Isolation, trials: list[Trial]) -> Mark:
    """Try all cases in a worker, noting each, and diagnose what is wrong while it is there."""
    record = answer.record
    cell, seconds = _CELL * limits.slowness, record.seconds * limits.slowness
    asks = asking(answer)
    cases = record.cases(np.random.default_rng(seed))
    with isolation.start(asks.kind, limits, cell + 2 * seconds, record.allows) as worker:
        _greet(worker)
        with _ends(f"The cell {record.id}", cell):
            asks.define(worker, cell)
        deadline = time.monotonic() + seconds + _SLACK
        for case in cases:
            log = Printed()
            with _ends(record.function, seconds):
                status, finding, error = asks.attempt(worker, case, max(0.0, deadline - time.monotonic()), log)
            if trials and status == "not_attempted":
                status = "wrong"  # an answer for some cases is an attempt
            trials.append(Trial(case, status, finding, error, log.text, log.omitted))
            if status == "not_attempted":
                break
        return _mark(record, trials, len(cases), partial(asks.again, worker))


def _greet(worker: Worker) -> None:
    """Wait for a worker in which nothing of a student's has run yet."""
    try:
        worker.greet()
    except (EndedError, LateError) as error:
        raise FailedError(f"its worker did not start: {error!r}") from None


@contextmanager
def _ends(what: str, seconds: float) -> Iterator[None]:
    """Put into a sentence how a worker ended before its time."""
    try:
        yield
    except LateError:
        raise StoppedError("timeout", f"{what} was stopped after {seconds:g} seconds.") from None
    except ForbiddenError as error:
        raise StoppedError("forbidden", f"{what} {one_line(str(error))}.") from None
    except EndedError as error:
        status = "timeout" if error.code == 128 + _CPU else "crashed"
        raise StoppedError(status, f"{what} ended the process that it ran in, with code {error.code}.") from None
    except NonsenseError:
        raise StoppedError("crashed", f"{what} left a process that gives no sensible replies.") from None


def _mark(record: Exercise, trials: list[Trial], total: int, again: Again) -> Mark:
    """The mark of an answer that was tried on all cases, or is not written yet."""
    first = next((trial for trial in trials if trial.status != "ok"), None)
    right = sum(trial.status == "ok" for trial in trials)
    noted = tuple(_noted(record, trial) for trial in trials)
    if first is None:
        message = f"{record.function} is right" + (f" in all {total} cases." if total > 1 else ".")
        return Mark(record.id, "ok", 1.0, message, cases=noted)
    if first.status == "not_attempted":
        problem = "is not written yet" if first.error else first.finding.problem
        return Mark(record.id, "not_attempted", 0.0, f"{record.function} {problem}.", cases=noted)
    likely = diagnose(record, trials, again)
    hints = tuple(hint for hint in (likely.hint, *record.hints) if hint)
    share = right / total if record.partial else 0.0
    sentence = f"{record.function} {first.finding.problem}."
    return Mark(record.id, first.status, share, sentence, likely.misconception or None, hints, noted)


def _without(record: Exercise, status: str, sentence: str, trials: list[Trial]) -> Mark:
    """The mark of an answer that came to no end; the cases before that are noted, and earn nothing."""
    noted = tuple(_noted(record, trial) for trial in trials)
    return Mark(record.id, status, 0.0, sentence, hints=record.hints, cases=noted)


def _noted(record: Exercise, trial: Trial) -> CaseMark:
    """A case for the report; the case of values is the right answer, and stays here."""
    words = "" if record.kind == "values" else str(trial.case)
    return CaseMark(words, trial.status, trial.finding.problem)


def _finished(mark: Mark, seconds: float) -> Mark:
    """A mark whose texts are plain, tell nothing of this machine's folders, and are short."""
    cases = tuple(replace(case, sentence=_told(case.sentence)) for case in mark.cases)
    return replace(mark, sentence=_told(mark.sentence), cases=cases, seconds=round(seconds, 3))


def _told(sentence: str) -> str:
    return one_line(_PATH.sub(lambda path: "…/" + path[0].replace("\\", "/").rpartition("/")[2], sentence), 600)
