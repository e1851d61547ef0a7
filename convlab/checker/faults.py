"""Says a fault in a check's words: what the learner can change, and what may be behind it."""

from __future__ import annotations

import re
from collections.abc import Collection

from convlab.checker.launched import FaultFound

__all__ = ["fault_clue", "in_words"]

# A race within a warp is cured by either barrier, and the tasks speak of one of them.
_BARRIER = "no barrier, such as __syncthreads(), stands between"
_WORDS = (
    (r"no barrier stands between|no __syncwarp\(\) stands between", _BARRIER),
    (r"\(RAW\)", "(RAW, a read after a write)"),
    (r"\(WAR\)", "(WAR, a write after a read)"),
    (r"\(WAW\)", "(WAW, a write after a write)"),
    (r"dynamic shared memory: pass shared=…", "dynamic shared memory, which is enough for a right answer"),
)
_CLUES = {
    "barrier": (
        "Not all threads of the block come to the same barriers, equally often.",
        "Does a barrier stand in a loop, in a branch, or behind a return? Put it where all threads of the block pass, "
        "each as often as the others.",
    ),
    "race": (
        "Two threads use the same word, one of them writes it, and nothing orders the two.",
        "Which elements does one thread write that another one reads or writes? What has to happen in between?",
    ),
}


def in_words(fault: FaultFound) -> str:
    """The rest of a sentence on a fault.

    >>> in_words(FaultFound("race", "error", 3, "reads tile[1], which t0 wrote: no barrier stands between (RAW)."))
    'reads tile[1], which t0 wrote: no barrier, such as __syncthreads(), stands between (RAW, a read after a write)'
    """
    message = fault.message.rstrip(".")
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    # A loop that is unrolled has its barrier several times, all in one line.
    return re.sub(rf"are at that of line {fault.line}$", "are at it in another round of its loop, or branch", message)


def fault_clue(faults: Collection[str]) -> tuple[str, str]:
    """What may be behind faults, which begin with their kinds; two empty strings where they speak for themselves.

    Threads that part at a barrier race as well, so the barrier comes first.
    """
    kinds = {fault.partition(" ")[0] for fault in faults}
    return next((words for kind, words in _CLUES.items() if kind in kinds), ("", ""))
