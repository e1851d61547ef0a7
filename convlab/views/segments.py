"""What a warp does from one barrier to the next, from its trace: loads, arithmetic, and stores to shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from convlab.emulator.observers.trace import TraceStep
from convlab.spec import GemmSpec
from convlab.views.traced import trace_method

__all__ = ["Segment", "segments"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A warp's PTX instructions between two barriers.

    ``load`` are those up to the last load from global memory, ``store`` those that store to shared memory, and
    ``arithmetic`` all others; ``multiplies`` says whether they read a tile from shared memory.
    """

    load: int
    arithmetic: int
    store: int
    multiplies: bool


@lru_cache(maxsize=32)
def segments(name: str, spec: GemmSpec) -> tuple[tuple[Segment, ...], ...]:
    """Run a matrix product, and list the segments of each warp of its first block, up to the last product.

    >>> first, *_ = segments("gemm_tiled", GemmSpec(gemm_m=32, gemm_n=32, gemm_k=64))
    >>> [(segment.load > 0, segment.multiplies, segment.store > 0) for segment in first]
    [(True, False, True), (False, True, False), (True, False, True), (False, True, False)]

    Raises ``ValueError``, with the reason, for a spec that the method does not support.
    """
    run = trace_method(name, spec, (0, None))
    barriers = {place for place, counts in run.lines.items() if counts.barriers}
    return tuple(tuple(_segments(trace.steps, barriers)) for trace in run.traces)


def _segments(steps: Sequence[TraceStep], barriers: set[tuple[str, int]]) -> list[Segment]:
    parts = [list(part) for at, part in groupby(steps, lambda step: (step.file, step.line) in barriers) if not at]
    found = [_segment(part) for part in parts]
    return [each for each in found if each.load or each.store or each.multiplies]


def _segment(steps: Sequence[TraceStep]) -> Segment:
    end = next((i for i, step in enumerate(steps) if _touches(step, "global", "store")), len(steps))
    steps = steps[:end]  # the outputs are written after the last product
    last = max((i for i, step in enumerate(steps) if _touches(step, "global", "load")), default=-1)
    storing = [_touches(step, "shared", "store") for step in steps]
    store = sum(step.instructions for step, stores in zip(steps, storing, strict=True) if stores)
    load = sum(step.instructions for step, stores in zip(steps[: last + 1], storing, strict=False) if not stores)
    total = sum(step.instructions for step in steps)
    multiplies = any(_touches(step, "shared", "load") for step in steps)
    return Segment(load, total - load - store, store, multiplies)


def _touches(step: TraceStep, space: str, action: str) -> bool:
    return any((access.space, access.action) == (space, action) for access in step.accesses)
