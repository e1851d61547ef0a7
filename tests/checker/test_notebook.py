"""Checking a notebook from its file, and running it as a learner does."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from convlab.checker import EXERCISES
from convlab.checker.cells import NotebookError
from convlab.checker.notebook import check_notebook

ROOT = Path(__file__).parents[2]
SOLUTION, EXERCISE = (ROOT / folder / "01_loops.ipynb" for folder in ("solutions", "exercises"))


def edited(folder, edit):
    """Write the solution notebook, changed by a function of its cells by id."""
    notebook = nbformat.read(SOLUTION, as_version=4)
    edit(notebook, {cell.id: cell for cell in notebook.cells})
    path = folder / "mine.ipynb"
    nbformat.write(notebook, path)
    return path


def first_sentence(folder, edit, question=1):
    verdict = check_notebook(edited(folder, edit)).verdicts[question]
    assert not verdict
    return verdict.status, verdict.message


def test_the_solution_passes_whole():
    report = check_notebook(SOLUTION)
    assert report.passed
    assert [verdict.exercise for verdict in report.verdicts] == ["01-one-output", "01-loops"]
    assert str(report).splitlines()[-1] == "10 of 10 points"


def test_the_exercise_is_not_attempted():
    report = check_notebook(EXERCISE)
    assert not report.passed
    assert {verdict.status for verdict in report.verdicts} == {"not_attempted"}
    assert str(report).splitlines()[-1] == "0 of 10 points"


def test_another_seed_means_other_data():
    assert check_notebook(SOLUTION, seed=9).passed


def test_one_wrong_answer_costs_its_own_points_alone(tmp_path):
    def edit(notebook, cells):
        cells["01-one-output"].source += "\n\nright = one_output\ndef one_output(*given):\n    return -right(*given)"

    report = check_notebook(edited(tmp_path, edit))
    assert [verdict.status for verdict in report.verdicts] == ["wrong", "ok"]
    assert str(report).splitlines()[-1] == "6 of 10 points"


def test_cells_without_an_id_and_checks_do_not_run(tmp_path):
    def edit(notebook, cells):
        notebook.cells.insert(0, nbformat.v4.new_code_cell("raise SystemExit"))
        notebook.cells.append(nbformat.v4.new_code_cell("conv2d_loops = None"))
        cells["01-loops-check"].source = "conv2d_loops = None"

    assert check_notebook(edited(tmp_path, edit)).passed


def test_a_helper_outside_the_answers_cell_is_missed(tmp_path):
    def edit(notebook, cells):
        notebook.cells.insert(0, nbformat.v4.new_code_cell("def helper(): pass"))
        cells["01-loops"].source = "def conv2d_loops(x, w, bias, stride, padding):\n    return helper()"

    assert first_sentence(tmp_path, edit) == (
        "error",
        "conv2d_loops raised NameError: name 'helper' is not defined in line 2, `return helper()`.",
    )


SOURCES = {
    "no Python": ("def conv2d_loops(:", "error", "The cell 01-loops is no valid Python: invalid syntax (cell 01-"),
    "an error": (
        "a = 1\nb = a / 0",
        "error",
        "The cell 01-loops raised ZeroDivisionError: division by zero in line 2, ",
    ),
    "another name": ("def conv(x): pass", "error", "The cell 01-loops defines no conv2d_loops."),
    "no function": ("conv2d_loops = 3", "error", "conv2d_loops was expected, the function itself, but the answer is"),
    "an exit": ("raise SystemExit", "error", "The cell 01-loops raised SystemExit in line 1"),
    "nothing": ("", "error", "The cell 01-loops defines no conv2d_loops."),
    "a magic": ("%timeit 1", "error", "The cell 01-loops is no valid Python: invalid syntax"),
}


@pytest.mark.parametrize(("source", "status", "message"), SOURCES.values(), ids=SOURCES)
def test_an_answer_that_does_not_run_gets_one_sentence(source, status, message, tmp_path):
    def edit(notebook, cells):
        cells["01-loops"].source = source

    found = first_sentence(tmp_path, edit)
    assert found[0] == status
    assert found[1].startswith(message)
    assert "\n" not in found[1]


def test_an_endless_cell_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("convlab.checker.notebook._SECONDS", 0.3)

    def edit(notebook, cells):
        cells["01-setup"].source = "import numpy as np"
        cells["01-loops"].source = "while True:\n    pass"

    assert first_sentence(tmp_path, edit)[0] == "timeout"


def test_a_broken_set_up_is_told_for_every_question(tmp_path):
    def edit(notebook, cells):
        cells["01-setup"].source = "import numpie"

    for question in (0, 1):
        status, message = first_sentence(tmp_path, edit, question)
        assert status == "error"
        assert message.startswith("The cell 01-setup raised ModuleNotFoundError: No module named 'numpie' in line 1")


def missing(notebook, cells):
    notebook.cells.remove(cells["01-loops"])


def copied(notebook, cells):
    notebook.cells.append(nbformat.v4.new_code_cell("1", metadata=cells["01-loops"].metadata))


def retyped(notebook, cells):
    cells["01-loops"].cell_type = "markdown"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (missing, "The cell 01-loops is missing; take it from a fresh copy."),
        (copied, "2 cells are copies of 01-loops; delete all but one."),
        (retyped, "The cell 01-loops is no code cell; make it one."),
    ],
)
def test_a_damaged_notebook_is_explained(edit, message, tmp_path):
    assert first_sentence(tmp_path, edit) == ("malformed", message)


def test_files_that_are_no_exercise_are_refused(tmp_path):
    with pytest.raises(NotebookError, match="there is no file"):
        check_notebook(tmp_path / "nowhere.ipynb")
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"\xff\xfe nothing")
    with pytest.raises(NotebookError, match="is no notebook"):
        check_notebook(path)
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), path)
    with pytest.raises(NotebookError, match=r"holds no exercise: .*\n  Fix: start from a fresh copy"):
        check_notebook(path)


def test_old_versions_and_byte_order_marks_are_read(tmp_path):
    path = tmp_path / "old.ipynb"
    notebook = nbformat.convert(nbformat.read(SOLUTION, as_version=4), 3)
    path.write_text(nbformat.writes(notebook, version=3), "utf-8-sig")
    assert check_notebook(path).passed


@pytest.mark.parametrize(("path", "headline"), [(SOLUTION, "passed"), (EXERCISE, "not attempted yet")])
def test_in_a_kernel_the_checks_show_their_verdicts_without_a_traceback(path, headline, monkeypatch, tmp_path):
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: cell.outputs for cell in notebook.cells if cell.get("outputs")}
    assert shown.keys() == {f"{record.id}-check" for record in EXERCISES.values() if record.notebook == path.stem}
    for outputs in shown.values():
        assert [output.output_type for output in outputs] == ["execute_result"]
        assert headline in outputs[0].data["text/plain"]
        assert headline in outputs[0].data["text/html"]
