"""What Gradescope reads, held against its documentation."""

from __future__ import annotations

import json

import jsonschema
import pytest

from convlab.grader.ledger import ledger
from convlab.grader.mark import STATUSES
from convlab.grader.overrides import read_overrides
from convlab.grader.reports.gradescope import gradescope

from ..outcomes import COURSE, result

# Written from "Autograder Specifications" of Gradescope's documentation: the keys that it names, and their types.
VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
TEST = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "max_score": {"type": "number"},
        "status": {"enum": ["passed", "failed"]},
        "name": {"type": "string"},
        "name_format": FORMAT,
        "number": {"type": "string"},
        "output": {"type": "string"},
        "output_format": FORMAT,
        "tags": {"type": "array", "items": {"type": "string"}},
        "visibility": VISIBILITY,
        "extra_data": {"type": "object"},
    },
    "required": ["score"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        "output_format": FORMAT,
        "test_output_format": FORMAT,
        "test_name_format": FORMAT,
        "visibility": VISIBILITY,
        "stdout_visibility": VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {"type": "array", "items": TEST},
        "leaderboard": {"type": "array"},
    },
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
    "additionalProperties": False,
}


def document(given, tmp_path, rows=""):
    path = tmp_path / "overrides.csv"
    path.write_text("student,identifier,exercise,points,reason\n" + rows, "utf-8")
    (paper,) = ledger([given], COURSE, read_overrides(path))
    found = json.loads(gradescope(paper))
    jsonschema.validate(found, SCHEMA)
    return found


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_fits_the_format(status, tmp_path):
    found = document(result(loops=status, share=float(status == "ok")), tmp_path)
    assert [test["score"] for test in found["tests"]] == [4, 6 if status == "ok" else 0]
    assert found["tests"][1]["status"] == ("passed" if status == "ok" else "failed")
    assert found["score"] == sum(test["score"] for test in found["tests"])


def test_what_is_taken_off_is_in_the_score_and_told(tmp_path):
    found = document(result(submitted="2027-03-03T00:00:00+01:00"), tmp_path)
    assert found["score"] == 8
    assert found["output"].splitlines()[0] == "2 days late: 2 of 10 points are taken off."


def test_what_helps_is_told_and_marks_are_audited(tmp_path):
    found = document(result(loops="wrong", share=0.5), tmp_path, "ada,,01-one-output,1,by mail\n")
    first, second = found["tests"]
    assert first["output"].splitlines() == ["It is ok.", "Set by hand: by mail"]
    assert first["score"] == 1
    assert second["output"].splitlines() == ["It is wrong.", "Likely: kernel flipped", "Look at w."]
    assert second["name"] == "01-loops, Seven loops"
    assert found["extra_data"]["sha256"] == "d" * 64
    assert found["extra_data"]["seed"] == "5eed1d"
    assert "Answers ran in namespaces of their own." in found["output"]


def test_nothing_in_it_acts_on_a_terminal(tmp_path):
    text = json.dumps(document(result(loops="wrong", told="\x1b[2J\x07", problem="\x1b]0;x\x07p"), tmp_path))
    assert "\\u001b" not in text
    assert "\\u0007" not in text
