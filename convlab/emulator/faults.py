"""What the sanitizer found: records, folded by kind and line, and the sentences that explain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

__all__ = ["SHOWN", "Fault", "FaultLog", "meanings", "summary"]

# What each kind of fault means on a GPU, and what to do about it.
ADVICE = {
    (
        "out_of_bounds",
        "error",
    ): "On a GPU this reads or destroys other data, or ends the program. Compare the index with "
    "the array's size before the access, as in `if (i >= 0 && i < n)`.",
    ("misaligned", "error"): "On a GPU this ends the program. An access of n bytes needs an address that n divides.",
    ("race", "error"): "On a GPU the order of these two accesses changes from run to run, and the result with it. Put "
    "__syncthreads() between them; where threads update one element, as in h[i]++, use atomicAdd.",
    ("race", "warning"): "The lanes of a warp run in step here, and often on a GPU, which promises nothing. Put "
    "__syncwarp() between the two accesses; where lanes update one element, as in h[i]++, use atomicAdd.",
    ("barrier", "error"): "On a GPU this hangs, or pairs up the wrong barriers. All threads of a block must reach the "
    "same __syncthreads(): take it out of the if, and guard the work instead of the thread.",
    ("barrier", "warning"): "GPUs since Volta go on without the threads that have ended, older ones hang. Let all "
    "threads reach the barrier: guard the work, as in `if (i < n) …`, instead of returning early.",
    ("uninitialized", "error"): "On a GPU this reads what an earlier program left there. Write the element first, also "
    "at edges.",
    ("unwritten", "warning"): "On a GPU this holds what an earlier program left there. Check the grid's size and the "
    "last elements.",
    (
        "endless_loop",
        "error",
    ): "If the loop does not end, a GPU hangs here. If it is merely long, pass a larger budget=….",
    ("shuffle", "error"): "On a GPU the value is undefined, or the program hangs. All lanes of the mask must reach the "
    "call: take it out of the if, or make the mask before the if, with __ballot_sync.",
    (
        "shuffle",
        "warning",
    ): "On a GPU the value is undefined; that does no harm where nobody uses it. Use it only where "
    "the lane that it comes from exists, as in `if (i + d < n) v += w;`.",
    ("assert", "error"): "On a GPU this ends the program.",
    ("trap", "error"): "On a GPU this ends the program.",
}
CALLS_SHOWN = 4  # of the chain of callers; `Fault.stack` has all
SHOWN = 5  # how many faults a message or a cell shows before it counts the rest


@dataclass(frozen=True, slots=True)
class Fault:
    """One finding: what, where (file and line as the learner numbered them), who, how often, and why it matters."""

    kind: str
    severity: str
    space: str
    file: str
    line: int
    stack: tuple[tuple[str, int], ...]
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    message: str
    count: int = 1
    other_line: int | None = None

    def __str__(self) -> str:
        kind = self.kind.replace("_", " ")
        if not self.line:
            return f"{kind}: {self.message}"
        times = f" [{self.count:,} times; the first is shown]" if self.count > 1 else ""
        calls = "".join(f", called from {file}:{line}" for file, line in self.stack[:CALLS_SHOWN])
        where = f" (In {self.file}:{self.line}{calls}.)" if calls else ""
        who = f"block {self.block}, thread {self.thread}"
        return f"{self.file}:{self.line}: {kind}: {who} {self.message}{where}{times}"


Key = tuple[str, str, int, str]


class FaultLog:
    """Collects faults; the same kind on the same line about the same thing becomes one record with a count."""

    def __init__(self) -> None:
        self._first: dict[Key, Fault] = {}
        self._count: dict[Key, int] = {}

    def add(self, fault: Fault, about: str = "") -> None:
        """Enter a fault, or count it with the first one of its kind and line; ``about`` is such as "reads x"."""
        key = (fault.kind, fault.file, fault.line, about)
        self._first.setdefault(key, fault)
        self._count[key] = self._count.get(key, 0) + fault.count

    def faults(self) -> list[Fault]:
        """All records, in the order in which they were first seen."""
        return [replace(fault, count=self._count[key]) for key, fault in self._first.items()]


def summary(faults: Sequence[Fault], shown: int = SHOWN) -> str:
    """The first faults, a line each, how many more there are, and what they mean."""
    lines = [str(fault) for fault in faults[:shown]]
    if len(faults) > shown:
        lines.append(f"… and {len(faults) - shown} more.")
    return "\n".join([*lines, *(text for _, text in meanings(faults[:shown]))])


def meanings(faults: Sequence[Fault]) -> list[tuple[str, str]]:
    """What each kind of fault among these means, and what to do about it; warnings mean less than errors."""
    kinds = dict.fromkeys((fault.kind, fault.severity) for fault in faults)
    return [(kind, ADVICE[kind, severity]) for kind, severity in kinds if (kind, severity) in ADVICE]
