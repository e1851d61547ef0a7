"""A small class is graded as it must be, and a run that is killed again and again leaves the same files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks"))

from grading import files, grade, killed, wrong  # noqa: E402 - found by the path above
from synthetic import a_class, hand_in  # noqa: E402

from convlab.grader.isolation import best  # noqa: E402


def test_a_class_has_everything_in_it_and_is_the_same_each_time():
    papers = a_class(300)
    kinds = [paper.kind for paper in papers]
    assert {kind: kinds.count(kind) for kind in sorted({*kinds})} == {
        "damaged": 15,
        "hostile": 15,
        "right": 210,
        "wrong": 60,
    }
    assert a_class(300) == papers
    assert len({(paper.student, paper.file) for paper in papers}) == 300
    assert len({paper.file for paper in papers}) == 10


@pytest.mark.slow
def test_each_gets_its_status_and_kills_change_nothing(tmp_path):
    papers = a_class(20)
    hand_in(papers, tmp_path / "in")
    assert best().name != "plain"
    assert grade(tmp_path / "in", tmp_path / "out", tmp_path / "seed").wait() == 1  # some need a human
    assert wrong(papers, tmp_path / "out") == []
    killed(tmp_path / "in", tmp_path / "again", tmp_path / "seed", kills=4, seconds=20)
    one, other = files(tmp_path / "out"), files(tmp_path / "again")
    assert [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)] == []
