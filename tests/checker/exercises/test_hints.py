"""What helps a learner who is stuck: every question has hints in two steps, and none of them is the answer."""

import pytest

from convlab.checker import EXERCISES, check

BY_ID = pytest.mark.parametrize("record", EXERCISES.values(), ids=lambda record: record.id)


@BY_ID
def test_every_question_has_hints_in_two_steps(record):
    first, second = record.hints
    assert first != second
    for hint in record.hints:
        assert hint.endswith((".", "?"))
        assert 40 < len(hint) < 300


@BY_ID
def test_the_hints_come_with_a_verdict_that_is_not_right(record):
    verdict = check(record.id, None)
    assert not verdict
    assert verdict.hints == record.hints
