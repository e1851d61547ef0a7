"""Each accident that a notebook meets ends in the best defined answer and one sentence."""

from __future__ import annotations

import copy
import json
import time

import pytest

from convlab.checker.exercises import EXERCISES
from convlab.grader.extract import extract
from convlab.grader.notebook_cells import Cell, Cells, read_cells
from convlab.grader.released import questions, stub
from convlab.grader.submissions import File

from .papers import cell_of, code, edited, filled, released, right_answers, written

LOOPS, OUTPUT = right_answers()["01-loops"], right_answers()["01-one-output"]
HALF = LOOPS.index("\n", len(LOOPS) // 2) + 1
KERNEL = right_answers()["03-index"]
SPLIT = KERNEL.index("\n", len(KERNEL) // 2) + 1


def paper(tmp_path, notebook, told=()):
    return extract(read_cells(File(written(tmp_path / "a.ipynb", notebook))), told)


def answer(tmp_path, notebook, exercise="01-loops"):
    return next(each for each in paper(tmp_path, notebook).answers if each.exercise == exercise)


@pytest.mark.parametrize("notebook", sorted(questions()))
def test_a_filled_notebook_gives_all_its_answers(notebook, tmp_path):
    found = paper(tmp_path, filled(notebook))
    assert found.notebook == notebook
    assert {each.exercise: each.text for each in found.answers} == {
        each: right_answers()[each] for each in questions()[notebook]
    }
    assert not any(each.notes or each.status for each in found.answers)


@pytest.mark.parametrize("notebook", sorted(questions()))
def test_a_fresh_notebook_is_not_attempted(notebook, tmp_path):
    found = paper(tmp_path, released(notebook))
    assert {each.status for each in found.answers} == {"not_attempted"}
    assert found.answers[0].sentence == f"{EXERCISES[found.answers[0].exercise].function} is not written yet."


def put(texts, exercise="01-loops", ids=True):
    """Put several cells in place of the answer's; with ids, all of them have the answer's."""

    def edit(notebook):
        cell = cell_of(notebook, exercise)
        at = notebook["cells"].index(cell)
        new = [copy.deepcopy(cell) | {"source": text} for text in texts]
        for each in new[1:] if ids == "first" else [] if ids else new:
            each |= {"metadata": {}, "id": "lost"}
        notebook["cells"][at : at + 1] = new

    return edit


def retyped(kind):
    return lambda notebook: cell_of(notebook, "01-loops").update(cell_type=kind)


def reordered(notebook):
    notebook["cells"].reverse()


def with_outputs(notebook):
    for cell in notebook["cells"]:
        cell["outputs"] = [{"output_type": "stream", "text": [LOOPS, "\x1b[31m"]}]
        cell["execution_count"] = "many"


JOINED = "The cell 01-loops was split; its parts were joined."
LOST = "The cell 01-loops had lost its id; it was found by the name conv2d_loops."
RETYPED = "The cell 01-loops was no code cell any more; its text was graded."
WHOLE = {
    "reordered": (reordered, LOOPS, ()),
    "with stray outputs": (with_outputs, LOOPS, ()),
    "copied and the copy never touched": (put([LOOPS, stub("01-loops")]), LOOPS, ()),
    "copied as it is": (put([LOOPS, LOOPS + "\n"]), LOOPS, ()),
    "copied and emptied": (put([LOOPS, "", "  \n"]), LOOPS, ()),
    "copied and changed": (
        put([LOOPS.replace("range", "list"), LOOPS]),
        LOOPS,
        ("2 cells are different copies of 01-loops; the last one was graded.",),
    ),
    "split, and both with the id": (put([LOOPS[:HALF], LOOPS[HALF:]]), f"{LOOPS[:HALF]}\n{LOOPS[HALF:]}", (JOINED,)),
    "split, the rest without an id": (
        put([LOOPS[:HALF], LOOPS[HALF:]], ids="first"),
        f"{LOOPS[:HALF]}\n{LOOPS[HALF:]}",
        (JOINED,),
    ),
    "split in three": (
        put([LOOPS[:HALF], LOOPS[HALF:-20], LOOPS[-20:]], ids="first"),
        f"{LOOPS[:HALF]}\n{LOOPS[HALF:-20]}\n{LOOPS[-20:]}",
        (JOINED,),
    ),
    "split above the function": (put(["import math\n", LOOPS], ids="first"), f"import math\n\n{LOOPS}", (JOINED,)),
    "split above, both with the id": (put(["import math\n", LOOPS]), f"import math\n\n{LOOPS}", (JOINED,)),
    "with a cell of one's own below": (put([LOOPS, "conv2d_loops(1)"], ids="first"), LOOPS, ()),
    "without its id": (put([LOOPS], ids=False), LOOPS, (LOST,)),
    "without its id, twice": (
        put([LOOPS.replace("range", "list"), LOOPS], ids=False),
        LOOPS,
        (LOST, "2 cells are different copies of 01-loops; the last one was graded."),
    ),
    "now Markdown": (retyped("markdown"), LOOPS, (RETYPED,)),
    "now raw": (retyped("raw"), LOOPS, (RETYPED,)),
    "now of no kind": (retyped(None), LOOPS, (RETYPED,)),
}


@pytest.mark.parametrize(("edit", "text", "notes"), WHOLE.values(), ids=WHOLE)
def test_an_answer_survives(edit, text, notes, tmp_path):
    found = answer(tmp_path, edited("01_loops", edit))
    assert (found.text, found.notes, found.status) == (text, notes, "")
    assert answer(tmp_path, edited("01_loops", edit), "01-one-output").text == OUTPUT


KERNELS = {
    "split, the rest without an id": (
        put([KERNEL[:SPLIT], KERNEL[SPLIT:]], "03-index", "first"),
        f"{KERNEL[:SPLIT]}\n{KERNEL[SPLIT:]}",
    ),
    "split, and both with the id": (
        put([KERNEL[:SPLIT], KERNEL[SPLIT:]], "03-index"),
        f"{KERNEL[:SPLIT]}\n{KERNEL[SPLIT:]}",
    ),
    "copied and changed": (put([KERNEL.replace("blockIdx", "threadIdx"), KERNEL], "03-index"), KERNEL),
    "a copy split": (
        put([KERNEL.replace("blockIdx", "threadIdx"), KERNEL[:SPLIT], KERNEL[SPLIT:]], "03-index"),
        f"{KERNEL[:SPLIT]}\n{KERNEL[SPLIT:]}",
    ),
    "without its id": (put([KERNEL], "03-index", ids=False), KERNEL),
    "with a cell of one's own below": (put([KERNEL, "mine.kernels"], "03-index", "first"), KERNEL),
}


@pytest.mark.parametrize(("edit", "text"), KERNELS.values(), ids=KERNELS)
def test_a_kernel_survives(edit, text, tmp_path):
    assert answer(tmp_path, edited("03_one_thread", edit), "03-index").text == text


def missing(notebook):
    notebook["cells"].remove(cell_of(notebook, "01-loops"))


BROKEN = {
    "missing": (missing, "malformed", "The cell 01-loops is missing."),
    "emptied": (put([""]), "not_attempted", "conv2d_loops is not written yet."),
    "put back": (put([stub("01-loops") + "  \n\n"]), "not_attempted", "conv2d_loops is not written yet."),
    "with marks of a merge": (
        put([f"<<<<<<< HEAD\n{LOOPS}\n=======\n>>>>>>> b"]),
        "malformed",
        "The cell 01-loops holds the marks of a merge conflict.",
    ),
    "endless": (put([LOOPS + "#" * 300_000]), "malformed", "The cell 01-loops is longer than 200000 characters."),
}


@pytest.mark.parametrize(("edit", "status", "sentence"), BROKEN.values(), ids=BROKEN)
def test_an_answer_that_cannot_be_read_costs_itself_alone(edit, status, sentence, tmp_path):
    found = answer(tmp_path, edited("01_loops", edit))
    assert (found.text, found.status, found.sentence) == ("", status, sentence)
    assert answer(tmp_path, edited("01_loops", edit), "01-one-output").text == OUTPUT


def test_two_versions_of_an_answer_are_for_a_human_and_two_of_an_output_are_not():
    mine = Cells(
        (Cell(True, LOOPS, "01-loops"), Cell(True, OUTPUT, "01-one-output")),
        other=(Cell(True, LOOPS[:-1], "01-loops"), Cell(True, OUTPUT, "01-one-output")),
    )
    output, loops = extract(mine).answers
    assert loops.sentence == "The cell 01-loops has two versions, with the marks of a merge conflict between them."
    assert loops.status == "malformed"
    assert output.text == OUTPUT


def test_a_notebook_is_known_by_its_cells_whatever_it_is_called(tmp_path):
    assert paper(tmp_path, filled("05_tiles"), told=("01_loops.ipynb", "01_loops")).notebook == "05_tiles"


def test_a_notebook_without_any_id_is_known_by_what_it_defines(tmp_path):
    notebook = filled("01_loops")
    for cell in notebook["cells"]:
        cell |= {"metadata": {}, "id": "x"}
    found = paper(tmp_path, notebook)
    assert found.notebook == "01_loops"
    assert [each.text for each in found.answers] == [OUTPUT, LOOPS]


def test_a_notebook_of_something_else_is_told(tmp_path):
    found = paper(tmp_path, {"cells": [code("1 + 1")]})
    assert (found.notebook, found.answers, found.problem) == ("", (), "The file holds no exercise of the course.")


def test_a_file_that_cannot_be_read_is_malformed_in_every_question_of_what_its_name_tells(tmp_path):
    path = tmp_path / "01_loops.ipynb"
    path.write_bytes(b"")
    found = extract(read_cells(File(path)), ("ada_01_loops-2.ipynb", ""))
    assert {(each.status, each.sentence) for each in found.answers} == {("malformed", "The file is empty.")}
    assert [each.exercise for each in found.answers] == ["01-one-output", "01-loops"]
    assert extract(read_cells(File(path)), ("homework.ipynb", "05_tiles")).notebook == "05_tiles"
    assert extract(read_cells(File(path)), ("homework.ipynb",)).problem == "The file is empty."


SLOW = {
    "open comments": ("03_one_thread", "03-index", KERNEL + "/* " * 60_000),
    "open quotes": ("01_loops", "01-loops", LOOPS + "'" * 90_001 + "\n" + '"' * 90_001),
    "open docstrings": ("01_loops", "01-loops", LOOPS + "'''" + '"""' * 30_001),
    "backslashes": ("01_loops", "01-loops", LOOPS + "'" + "\\" * 180_000),
    "brackets": ("01_loops", "01-loops", LOOPS + "(" * 180_000),
    "equals": ("01_loops", "01-loops", "conv2d_loops" + " " * 180_000 + ":" * 10_000),
}


@pytest.mark.parametrize(("notebook", "exercise", "text"), SLOW.values(), ids=SLOW)
def test_a_text_made_to_be_slow_is_read_in_time(notebook, exercise, text, tmp_path):
    began = time.process_time()
    answer(tmp_path, filled(notebook, {exercise: text}), exercise)
    assert time.process_time() - began < 5  # a search that goes back on itself would take minutes


def test_thousands_of_cells_are_read_in_time(tmp_path):
    notebook = filled("01_loops", {"01-loops": "def conv2d_loops(x:"})
    at = notebook["cells"].index(cell_of(notebook, "01-loops"))
    many = [json.loads(json.dumps(cell_of(notebook, "01-loops"))) | {"source": f"a{i} = ("} for i in range(3000)]
    notebook["cells"][at:at] = [code("b = (")] * 3000 + many
    began = time.process_time()
    paper(tmp_path, notebook)
    assert time.process_time() - began < 5
