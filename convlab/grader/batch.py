"""Grades many submissions: a few at once, each written down when it is done, and none of them stops the others."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any

from convlab.grader.executors import Opener, Pool
from convlab.grader.grade_one import Job, failed, grade
from convlab.grader.text import one_line

__all__ = ["grade_all"]

_PATIENCE = 1800.0  # seconds for one submission, in which every limit of the isolation has long ended it
_LOOK = 5.0  # seconds between two looks at the clock

Keep = Callable[[Job, dict[str, Any]], None]
Running = dict[Future[dict[str, Any]], tuple[Job, float]]  # each with when it began


class _LostError(Exception):
    """The pool died, or is stuck; with the jobs that were being graded."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        super().__init__()
        self.jobs = list(jobs)


def grade_all(jobs: Iterable[Job], opened: Opener, keep: Keep) -> None:
    """Grade all jobs; ``keep`` gets each with what came of it, in the order in which they end.

    A process that dies takes its pool with it: then a new pool is opened, and each job that was being graded gets
    another try, alone. One that kills its process again is the grader's failure, for a human.
    """
    waiting = deque(jobs)
    while waiting:
        try:
            _through(waiting, opened, keep)
        except _LostError as lost:
            for job in lost.jobs:
                _alone(job, opened, keep)


def _alone(job: Job, opened: Opener, keep: Keep) -> None:
    try:
        _through(deque([job]), opened, keep)
    except _LostError:
        keep(job, failed(job, "The grader's process died, or did not end, twice while it graded this."))


def _through(waiting: deque[Job], opened: Opener, keep: Keep) -> None:
    """Feed a pool until nothing is waiting; no more than it works on at once, so that what is lost is known."""
    running: Running = {}
    with opened() as pool:
        while waiting or running:
            while waiting and len(running) < pool.slots:
                job = waiting.popleft()
                running[_submitted(pool, job, running)] = job, time.monotonic()
            for future in wait(running, _LOOK, FIRST_COMPLETED).done:
                _settle(future, running, keep)
            began = min((start for _, start in running.values()), default=time.monotonic())
            if time.monotonic() - began > _PATIENCE:
                raise _LostError(job for job, _ in running.values())


def _submitted(pool: Pool, job: Job, running: Running) -> Future[dict[str, Any]]:
    try:
        return pool.executor.submit(grade, job)
    except BrokenExecutor:
        raise _LostError([job, *(each for each, _ in running.values())]) from None


def _settle(
    future: Future[dict[str, Any]], running: dict[Future[dict[str, Any]], tuple[Job, float]], keep: Keep
) -> None:
    try:
        outcome = future.result()
    except BrokenExecutor:
        raise _LostError(job for job, _ in running.values()) from None
    except Exception as error:  # whatever a cluster's worker may come to
        job = running.pop(future)[0]
        keep(job, failed(job, f"The grader failed: {type(error).__name__}: {one_line(str(error))}"))
    else:
        keep(running.pop(future)[0], outcome)
