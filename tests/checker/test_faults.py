"""How a check says a fault, and what it says may be behind it."""

from __future__ import annotations

import pytest

from convlab.checker import check
from convlab.checker.exercises import e05_barriers, e05_conflicts
from convlab.checker.faults import fault_clue, in_words
from convlab.checker.launched import FaultFound
from convlab.executors.compile import compile

STORED = "                bool inside = h < H && col < W;\n"


@pytest.mark.parametrize("between", ["no barrier stands between", "no __syncwarp() stands between"])
@pytest.mark.parametrize(
    ("kind", "words"),
    [("RAW", "a read after a write"), ("WAR", "a write after a read"), ("WAW", "a write after a write")],
)
def test_a_race_is_said_without_jargon_and_with_the_barrier_of_the_task(between: str, kind: str, words: str) -> None:
    said = in_words(FaultFound("race", "error", 3, f"reads tile[1], which thread 0 wrote: {between} ({kind})."))
    assert said == (
        f"reads tile[1], which thread 0 wrote: no barrier, such as __syncthreads(), stands between ({kind}, {words})"
    )


def test_other_faults_stay_as_they_are() -> None:
    message = "is at this barrier, while other threads of its block are at that of line 17"
    assert in_words(FaultFound("barrier", "error", 12, f"{message}.")) == message


def test_the_clue_is_that_of_the_barrier_where_threads_race_as_well() -> None:
    barrier, race = "barrier is at", "race reads"
    assert fault_clue({race, barrier}) == fault_clue({barrier}) != fault_clue({race})
    assert fault_clue({"bounds reads x"}) == ("", "")


def test_a_barrier_that_threads_pass_unequally_often_is_told_as_that() -> None:
    """Its line is named once, and not as if it were two lines."""
    source = e05_barriers.ANSWER.replace(STORED, f"                __syncthreads();\n{STORED}")
    verdict = check("05-barriers", compile(source, name="mine.cu"))
    assert verdict.message.endswith(
        "is at this barrier, while other threads of its block are at it in another round of its loop, or branch."
    )
    assert verdict.misconception == "Not all threads of the block come to the same barriers, equally often."
    assert "in a loop" in verdict.hint


def test_a_pitch_without_room_is_not_told_to_change_the_launch() -> None:
    source = e05_conflicts.ANSWER.replace(
        "cols + (24 - cols % 16) % 16", "cols == 20 ? 40 : cols + (24 - cols % 16) % 16"
    )
    verdict = check("05-conflicts", compile(source, name="mine.cu"))
    assert "bytes of dynamic shared memory, which is enough for a right answer" in verdict.message
    assert "pass shared" not in verdict.message
