"""Exercises are made from solutions, and nothing of an answer comes along."""

import json
import re
from pathlib import Path

import nbformat
import pytest

from convlab.checker import EXERCISES, UnknownExerciseError
from convlab.checker.cells import NotebookError
from convlab.checker.release import release, released

ROOT = Path(__file__).parents[2]
SOLUTIONS, RELEASED = ROOT / "solutions", ROOT / "exercises"
NOTEBOOKS = pytest.mark.parametrize("path", sorted(SOLUTIONS.glob("*.ipynb")), ids=lambda path: path.stem)
ANSWER = "def one_output(x):\n    ### BEGIN SOLUTION\n    return secret_answer\n    ### END SOLUTION"


def marks(grade_id, **others):
    return {"schema_version": 3, "grade_id": grade_id, "grade": False, "locked": False, "solution": False} | others


def notebook(*cells):
    return nbformat.v4.new_notebook(cells=cells, metadata={"author": "secret_answer"})


def answer_cell(source=ANSWER, grade_id="01-one-output"):
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": marks(grade_id, solution=True)})


def written(folder, *cells, name="a.ipynb"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    nbformat.write(notebook(*cells), path)
    return path


def test_the_committed_exercises_are_those_of_the_solutions():
    assert release(SOLUTIONS, RELEASED, check=True) == []


def test_every_notebook_of_the_records_is_there():
    lessons = {path.stem for path in (SOLUTIONS.parent / "notebooks").glob("*.ipynb")}
    notebooks = {record.notebook for record in EXERCISES.values()}
    solutions = {path.stem for path in SOLUTIONS.glob("*.ipynb")}
    assert solutions <= notebooks
    assert notebooks - solutions <= lessons  # a question inside of a lesson


@NOTEBOOKS
def test_nothing_of_the_answers_is_left(path):
    released_text = (RELEASED / path.name).read_text("utf-8")
    inside, lines = False, []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        for line in "".join(cell["source"]).splitlines():
            inside = (inside or "BEGIN SOLUTION" in line) and "END SOLUTION" not in line
            lines += [line.strip()] if inside and any(map(str.isalnum, line)) else []  # a brace gives nothing away
    assert len(lines) > 10
    stubs = [record.stub for record in EXERCISES.values() if record.notebook == path.stem]
    given = {line.strip() for stub in stubs for line in stub.splitlines()}
    for line in set(lines) - given:
        assert json.dumps(line, ensure_ascii=False)[1:-1] not in released_text


OPENINGS = {"function": "def {}(", "kernel": "%%cuda {}", "values": "{} = {{"}  # of the cell with the answer


@NOTEBOOKS
def test_ids_points_and_texts_are_kept_and_cells_guarded(path):
    before, after = (json.loads((folder / path.name).read_text("utf-8"))["cells"] for folder in (SOLUTIONS, RELEASED))
    assert [cell["id"] for cell in before] == [cell["id"] for cell in after]
    for old, new in zip(before, after, strict=True):
        assert old["metadata"]["nbgrader"] == new["metadata"]["nbgrader"]
        assert new["metadata"]["deletable"] is False
        if new["metadata"]["nbgrader"]["solution"]:
            record = EXERCISES[new["id"]]
            lines = [line.strip() for line in "".join(new["source"]).splitlines()]
            assert {line.strip() for line in record.stub.splitlines()} <= {*lines}
            assert lines[0].startswith(OPENINGS[record.kind].format(record.function))
        else:
            assert old["source"] == new["source"]


@NOTEBOOKS
def test_a_question_has_its_cells_and_points(path):
    cells = {cell["id"]: cell for cell in json.loads(path.read_text("utf-8"))["cells"]}
    for record in EXERCISES.values():
        if record.notebook == path.stem:
            assert cells[record.id]["metadata"]["nbgrader"]["solution"]
            check = cells[f"{record.id}-check"]
            assert check["metadata"]["nbgrader"]["grade"]
            assert check["metadata"]["nbgrader"]["points"] == record.points
            assert "".join(check["source"]) == f'cl.check("{record.id}", {record.function})'
            task = "".join(cells[f"{record.id}-task"]["source"])
            assert f"{record.title} ({record.points} points)" in task
            assert (f"`{record.kernel.entry}`" if record.kernel else f"`{record.function}") in task


@NOTEBOOKS
def test_solutions_are_kept_without_outputs_and_valid(path):
    for folder in (SOLUTIONS, RELEASED):
        content = nbformat.read(folder / path.name, as_version=4)
        nbformat.validate(content)
        for cell in content.cells:
            assert cell.get("outputs", []) == []
            assert cell.get("execution_count") is None


# What nbgrader 0.9.6 asks of a cell's marks: its nbgraderformat/v3.json, and validate_cell in v3.py.
REQUIRED = {"schema_version": int, "grade_id": str, "grade": bool, "locked": bool, "solution": bool}
OPTIONAL = {"points": int, "task": bool, "cell_type": str}


@NOTEBOOKS
def test_the_marks_follow_nbgraders_rules(path):
    for folder in (SOLUTIONS, RELEASED):
        cells = json.loads((folder / path.name).read_text("utf-8"))["cells"]
        marks = [cell["metadata"]["nbgrader"] for cell in cells if "nbgrader" in cell["metadata"]]
        for cell, mark in ((cell, cell["metadata"].get("nbgrader", {})) for cell in cells):
            if mark:
                assert REQUIRED.keys() <= mark.keys() <= (REQUIRED | OPTIONAL).keys()
                assert all(type(value) is (REQUIRED | OPTIONAL)[name] for name, value in mark.items())
                assert mark["schema_version"] == 3
                assert re.fullmatch(r"[a-zA-Z0-9_\-]+", mark["grade_id"])
                assert ("points" in mark) >= mark["grade"]
                assert cell["cell_type"] == mark.get("cell_type", cell["cell_type"])
                assert cell["cell_type"] == "code" or (mark["grade"] == mark["solution"] and not mark.get("task"))
        assert len({mark["grade_id"] for mark in marks}) == len(marks) > 0


def test_outputs_counts_metadata_and_attachments_go(tmp_path):
    cell = answer_cell()
    cell.execution_count = 7
    cell.outputs = [nbformat.v4.new_output("stream", text="secret_answer")]
    cell.metadata |= {"tags": ["secret_answer"], "collapsed": True}
    cell.metadata["nbgrader"]["checksum"] = "secret_answer"
    text = nbformat.v4.new_markdown_cell("A task", attachments={"a.png": {"image/png": "secret_answer"}})
    path = written(tmp_path / "solutions", cell, text)
    assert path.read_text().count("secret_answer") == 6
    result = released(path)
    assert "secret_answer" not in result
    assert json.loads(result)["cells"][0]["source"][1].strip() == EXERCISES["01-one-output"].stub
    assert result == released(path)
    assert result.endswith("}\n")


def test_releasing_writes_what_differs_and_only_that(tmp_path):
    source, target = tmp_path / "solutions", tmp_path / "exercises"
    written(source, answer_cell())
    assert release(source, target, check=True) == [target / "a.ipynb"]
    assert not target.exists()
    assert release(source, target) == [target / "a.ipynb"]
    assert release(source, target) == []
    (target / "a.ipynb").write_text("edited by hand")
    assert release(source, target, check=True) == [target / "a.ipynb"]
    assert release(source, target) == [target / "a.ipynb"]
    assert release(source, target, check=True) == []


def test_an_exercise_without_a_solution_is_listed_not_deleted(tmp_path):
    source, target = tmp_path / "solutions", tmp_path / "exercises"
    written(source, answer_cell())
    stray = written(target, name="b.ipynb")
    assert release(source, target) == [target / "a.ipynb", stray]
    assert stray.exists()


def test_cuda_answers_have_marks_of_their_own(tmp_path):
    source = "%%cuda conv\n__global__ void conv() {\n    // BEGIN SOLUTION\n    y[0] = 1;\n    // END SOLUTION\n}"
    lines = json.loads(released(written(tmp_path, answer_cell(source))))["cells"][0]["source"]
    assert lines[2].strip() == EXERCISES["01-one-output"].stub
    assert len(lines) == 4


BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MARK_FIX = "Fix: put ### BEGIN SOLUTION and ### END SOLUTION around it."
BROKEN = {
    "no end": ([answer_cell(f"{BEGIN}\n1")], "the solution has no end.\n  " + MARK_FIX),
    "no solution": ([answer_cell("1")], "a cell marked as a solution has no solution.\n  " + MARK_FIX),
    "nested": ([answer_cell(f"{BEGIN}\n{BEGIN}\n1\n{END}")], "a solution begins inside a solution."),
    "end alone": ([answer_cell(f"{BEGIN}\n1\n{END}\n{END}")], "a solution mark is left over."),
    "on a line with code": ([answer_cell(f"{BEGIN}\n1\n{END}\n2  # end solution")], "a solution mark is left over."),
    "in another cell": ([nbformat.v4.new_code_cell(ANSWER)], "a solution mark is left over."),
    "in a text": ([nbformat.v4.new_markdown_cell(ANSWER)], "a solution mark is left over."),
    "an attachment": (
        [nbformat.v4.new_markdown_cell("![](attachment:a.png)")],
        "it shows an attachment, which is not released.",
    ),
    "other points": (
        [nbformat.v4.new_code_cell("1", metadata={"nbgrader": marks("01-loops-check", grade=True, points=7)})],
        "the cell gives 7 points, but the record of 01-loops gives 6.\n  Fix: make them equal.",
    ),
}


@pytest.mark.parametrize(("cells", "message"), BROKEN.values(), ids=BROKEN)
def test_a_notebook_that_is_not_well_formed_is_refused(cells, message, tmp_path):
    written(tmp_path / "solutions", *cells)
    with pytest.raises(NotebookError) as caught:
        release(tmp_path / "solutions", tmp_path / "exercises")
    assert str(caught.value).startswith(f"a.ipynb, cell 1: {message}")
    assert not (tmp_path / "exercises").exists()


def test_copied_ids_and_unknown_ids_are_refused(tmp_path):
    with pytest.raises(NotebookError, match=r"a.ipynb: 2 cells have the id 01-one-output.\n  Fix: rename all but one."):
        released(written(tmp_path, answer_cell(), answer_cell()))
    with pytest.raises(UnknownExerciseError, match='did you mean "01-loops"'):
        released(written(tmp_path, answer_cell(grade_id="01-lops")))


def test_folders_without_notebooks_and_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(NotebookError, match="there is no notebook in"):
        release(tmp_path, tmp_path)
    (tmp_path / "a.ipynb").write_text("{")
    with pytest.raises(NotebookError, match=r"a.ipynb is no notebook: .*\n  Fix: open it in JupyterLab"):
        release(tmp_path, tmp_path / "exercises")
