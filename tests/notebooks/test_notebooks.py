"""Every notebook of the course: it runs from top to bottom, with and without a compiler, and keeps the rules."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import nbformat
import pytest

from convlab import course
from convlab.kernels.method import FOLDER

from .running import executed, text_of
from .stub_gpu import FIRST_CELL

NOTEBOOKS = {name: path for name, path in course.shipped("notebooks").items() if name.endswith(".ipynb")}
LESSONS = {name: path for name, path in NOTEBOOKS.items() if Path(name).name[0].isdigit()}
ENDINGS = ("## Questions", "## What to remember")


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


@pytest.mark.parametrize("hidden", [False, True], ids=["with a compiler", "without a compiler"])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(name, hidden):
    for cell in executed(NOTEBOOKS[name], hidden).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", (cell.id, output.text)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_valid_and_stripped_and_its_cells_are_short(name):
    book = read(NOTEBOOKS[name])
    nbformat.validate(book)
    ids = [cell.id for cell in book.cells]
    assert len(set(ids)) == len(ids)
    for cell in book.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        lines = cell.source.count("\n") + 1
        assert lines <= (26 if cell.source.startswith("%%cuda") else 36 if cell.cell_type == "markdown" else 16), (
            cell.id
        )


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_the_parts_that_every_lesson_has(name):
    book = read(LESSONS[name])
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    number = Path(name).name[:2]
    assert text.startswith(f"# {number} · ")
    for part in ("**Afterwards you can**", "**You need**", "**It takes**", "glossary.ipynb", "**Predict.**", *ENDINGS):
        assert part in text, part
    questions = text[text.index("## Questions") :]
    assert questions.count("<details>") == questions.count("</details>") == 5
    after = f"notebooks/{int(number) + 1:02}_"
    following = [Path(each).name for each in LESSONS if each.startswith(after)]
    assert all(f"]({each})" in text.partition("**Next:**")[2] for each in following)
    predicted = len(re.findall(r"explore\.predict\(", str(book)))
    assert predicted == len(re.findall(r"\.reveal\(", str(book))) >= 3


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_links_between_notebooks_lead_somewhere(name):
    for cell in read(NOTEBOOKS[name]).cells:
        for target in re.findall(r"\]\(([^)#]+)\)", cell.source if cell.cell_type == "markdown" else ""):
            assert "://" not in target, "the course asks nothing of the network"
            assert (NOTEBOOKS[name].parent / target).resolve().exists(), target


def test_lesson_01_shows_the_rung_as_it_is():
    cell = next(
        cell for cell in read(LESSONS["notebooks/01_inner_product_to_convolution.ipynb"]).cells if cell.id == "kernel"
    )
    rung = (FOLDER / "naive.cu").read_text(encoding="utf-8")
    assert cell.source.partition("\n")[2] == rung[rung.index("#include") :].strip()


def test_what_lesson_00_says_is_what_its_cells_compute():
    book = executed(LESSONS["notebooks/00_start_here.ipynb"])
    assert (
        text_of(book, "hello-run").split()
        == " ".join(f"block {b}, thread {t}" for b in range(2) for t in range(4)).split()
    )
    assert "the run says 4 sectors" in text_of(book, "add-observed")
    faults = text_of(book, "no-guard-run")
    assert all(f"{array}[1000]" in faults for array in "abc")
    assert faults.count("[24 times") == 3
    assert "passed" not in text_of(book, "your-check").lower()


def test_what_lesson_01_says_is_what_its_cells_compute():
    book = executed(LESSONS["notebooks/01_inner_product_to_convolution.ipynb"])
    assert re.findall(r"(\d+) multiply-adds", text_of(book, "reveal-products")) == ["27", "576", "2304"]
    assert "(1, 32, 112, 112)" in text_of(book, "spec")
    assert text_of(book, "one-output-run").startswith("27 products")
    hand, library = re.search(r": (-?\d+\.\d+); conv2d says (-?\d+\.\d+)", text_of(book, "one-output-run")).groups()
    assert float(hand) == pytest.approx(float(library), abs=2e-4)
    assert "16,384" in text_of(book, "standard-layer") or "16384" in text_of(book, "standard-layer")
    assert float(re.search(r"NumPy: (\S+)", text_of(book, "photo"))[1]) < 1e-5
    assert text_of(book, "compare").count("right: largest difference") == 2
    assert re.findall(r"(\d+)$", text_of(book, "your-filter").strip(), re.MULTILINE) == ["4", "0", "3", "3"]
    assert 0 < float(re.match(r"[\d.]+", text_of(book, "useful"))[0]) < 10  # "how little of the work is multiplying"
    assert re.findall(r"(\d\.\d+) of", text_of(book, "cheaper-run")) == ["0.250", "0.111", "0.900"]


def test_the_notebooks_hold_nothing_of_the_machine_they_were_written_on():
    for path in NOTEBOOKS.values():
        text = path.read_text(encoding="utf-8")
        assert os.fspath(Path.home()) + os.sep not in text
        assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_also_runs_where_a_gpu_seems_to_be(name):
    """What a notebook does with a GPU, timing above all, is run on a stand-in for one."""
    for cell in executed(LESSONS[name], first=FIRST_CELL).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", (cell.id, output.text)
