"""How work on a GPU is timed: warm it up, let events stand around many repeats, take the median.

Work is queued and not waited for, so that a GPU always has the next piece at hand. Work that may be shorter than it
takes Python to queue it goes into one CUDA graph, many times.
"""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from typing import Any, Protocol

from tqdm.auto import tqdm

from convlab.perf.times import Time

__all__ = ["PATIENCE", "REPEATS", "Samples", "Stopwatch", "sample"]

REPEATS = 20
PATIENCE = 2.0  # seconds of work that get a bar: nobody wants to see one that is gone before it is read
_WARM_MS = 50.0  # of work before anything counts: caches, clocks
_SMALL_MS = 2.0  # below this, queueing from Python might take longer than the work: some plans have 170 launches
_BATCH_MS = 2.0  # of work in a CUDA graph, or a little more
_BUDGET_MS = 2000.0  # of repeats; at least three are made
_MOST_LAUNCHES = 4096


class Stopwatch(Protocol):
    """What a library says of its moments on a GPU: `convlab.executors.cuda_queue` is one."""

    def mark(self) -> Any:
        """A moment: when all that was queued until now is done."""

    def wait(self, event: Any, /) -> None:
        """Wait for a moment."""

    def between(self, start: Any, end: Any, /) -> float:
        """Milliseconds between two moments that have come."""

    def capture(self, work: Callable[[], None], /) -> Callable[[], None]:
        """What ``work`` queues, as one CUDA graph that a call queues."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Milliseconds of one piece of work: the median, the least and the most of the repeats; and how it was done."""

    milliseconds: float
    low: float
    high: float
    note: str = ""

    @classmethod
    def of(cls, times: list[float], note: str = "") -> Samples:
        """What the times of all repeats come to."""
        return cls(statistics.median(times), min(times), max(times), note)

    def time(self, on: str, more: str = "") -> Time:
        """The same as a time that was measured today; ``more`` follows the note."""
        today = datetime.date.today().isoformat()
        return Time(self.milliseconds, "measured", on, today, self.low, self.high, self.note + more)


def sample(
    work: Callable[[int], None],
    sets: int,
    watch: Stopwatch,
    repeats: int = REPEATS,
    during: Callable[[], str] = str,
    what: str = "timing",
) -> Samples:
    """Time what ``work(i)`` queues on the i-th of so many sets of buffers, which take turns.

    Parameters: ``during`` is called once while the repeats are running, and what it says becomes part of the note;
    ``what`` stands at the progress bar. Where the work is long, there are fewer repeats than ``repeats``.
    """
    turns = cycle(range(sets))

    def one() -> None:
        work(next(turns))

    _elapsed(one, watch)  # the first may load or choose something
    estimate = min(_elapsed(one, watch) for _ in range(2))
    batch, count, note = _batched(work, sets, watch, estimate) if estimate < _SMALL_MS else (one, 1, "")
    _warm(batch, count * estimate)
    spans = []
    for _ in range(max(min(repeats, ceil(_BUDGET_MS / (count * estimate))), min(repeats, 3))):
        start = watch.mark()
        batch()
        spans.append((start, watch.mark()))
    notes = [during(), f"{len(spans)} repeats over {sets} {'set' if sets == 1 else 'sets'} of buffers", note]
    times = []
    short = len(spans) * count * estimate < 1000 * PATIENCE
    for start, end in tqdm(spans, desc=what, disable=short, leave=False):
        watch.wait(end)
        times.append(watch.between(start, end) / count)
    return Samples.of(times, ", ".join(filter(None, notes)))


def _elapsed(work: Callable[[], None], watch: Stopwatch) -> float:
    """Milliseconds of work from an idle GPU on; a little more than nothing."""
    start = watch.mark()
    work()
    end = watch.mark()
    watch.wait(end)
    return max(watch.between(start, end), 1e-3)


def _warm(batch: Callable[[], None], milliseconds: float) -> None:
    for _ in range(max(1, min(ceil(_WARM_MS / milliseconds), 500))):
        batch()


def _batched(
    work: Callable[[int], None], sets: int, watch: Stopwatch, estimate: float
) -> tuple[Callable[[], None], int, str]:
    """Small work many times, every set of buffers equally often: as a CUDA graph, or else one after the other."""
    rounds = ceil(min(_BATCH_MS / estimate, _MOST_LAUNCHES) / sets)
    count = rounds * sets

    def all_of_it() -> None:
        for number in range(count):
            work(number % sets)

    try:
        return watch.capture(all_of_it), count, f"{count} times in a CUDA graph"
    except Exception as error:  # what cannot be captured can still be timed
        reason = str(error).partition("\n")[0]
        return all_of_it, count, f"{count} times in a row, launched one by one (no CUDA graph: {reason})"
