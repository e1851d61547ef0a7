"""What is shown of a verdict before its diagnosis is there."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from convlab.checker import exercise
from convlab.checker.check import check, judge
from convlab.checker.early import early
from convlab.checker.exercises.e03_index import ANSWER
from convlab.checker.verdict import Verdict
from convlab.executors.compile import compile

WRONG = Verdict(exercise="x", title="X", points=1, status="wrong", message="mine gives 1, but 2 was expected.")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


OVERWRITTEN = ANSWER.replace("sum += x", "sum = x")


def test_what_is_wrong_is_known_before_the_mutants_are_tried() -> None:
    seen: list[Verdict] = []
    verdict = judge(exercise("03-index"), compile(OVERWRITTEN), 1, seen.append)
    (first,) = seen
    assert (first.message, first.where, first.status) == (verdict.message, verdict.where, "wrong")
    assert (first.diagnosis, first.misconception) == ("", "")
    assert verdict.diagnosis == "sum overwritten"


@pytest.mark.parametrize(
    ("exercise_id", "answer"),
    [("03-index", None), ("03-index", compile(ANSWER)), ("01-loops", lambda *given: given[0]), ("01-loops", None)],
)
def test_what_needs_no_diagnosis_or_has_it_at_once_is_said_once(exercise_id: str, answer: Any) -> None:
    seen: list[Verdict] = []
    judge(exercise(exercise_id), answer, 1, seen.append)
    assert seen == []


def test_a_terminal_shows_the_sentence_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "30")
    with early() as show:
        show(WRONG)
        assert sys.stderr.getvalue() == "mine gives 1, but 2 was expe…\r"
    assert sys.stderr.getvalue().endswith("\r" + " " * 29 + "\r")


def test_a_terminal_stays_empty_where_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with early():
        pass
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("stream", [None, io.StringIO()])
def test_what_nobody_reads_is_not_written(monkeypatch: pytest.MonkeyPatch, stream: Any) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with early() as show:
        show(WRONG)
    assert stream is None or stream.getvalue() == ""
    assert check("03-index", compile(OVERWRITTEN)).diagnosis == "sum overwritten"


def test_a_notebook_shows_a_box_whose_place_is_then_for_the_whole_one() -> None:
    source = (
        "from convlab.checker import early\n"
        "from convlab.checker.verdict import Verdict\n"
        "box = Verdict(exercise='x', title='X', points=1, status='wrong', message='It is wrong.')\n"
        "with early.early() as show:\n"
        "    show(box)\n"
        "    print('shown')\n"
        "box"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    seen: list[str] = []

    class Watching(NotebookClient):
        def output(self, outs: Any, msg: Any, display_id: str, cell_index: int) -> Any:
            seen.append(str(msg["content"].get("data", {}).get("text/html", "")))
            return super().output(outs, msg, display_id, cell_index)

    Watching(notebook, timeout=60).execute()
    outputs = notebook.cells[0].outputs
    assert "looking for the mistake" in seen[0]
    assert [each.get("data", {}).get("text/html") == "" for each in outputs] == [True, False, False]
    assert "It is wrong." in outputs[2].data["text/html"]
    assert "looking" not in outputs[2].data["text/html"]


def test_checking_loads_nothing_that_it_does_not_need() -> None:
    """Matplotlib alone would make the first check of a notebook wait for a second."""
    code = "import sys, convlab.checker, convlab.views; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
