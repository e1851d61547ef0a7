"""Lesson 01 as a learner meets it: run all cells, move the stride, point at an output."""

from __future__ import annotations

import shutil

import pytest
from playwright.sync_api import expect

from convlab import course

from .lab import Lab
from .picture import cells, lit, slider

LESSON = "01_inner_product_to_convolution.ipynb"


@pytest.mark.browser
def test_lesson_01_runs_and_its_explorer_follows_the_learner(lab: Lab) -> None:
    shutil.copy(course.root() / "notebooks" / LESSON, lab.folder / LESSON)
    notebook = lab.open(LESSON)
    notebook.run_all()
    assert notebook.python_errors() == []
    explorer = notebook.page.locator(".jp-CodeCell", has_text="cl.explore.window()")
    expect(cells(explorer, "output")).to_have_count(6 * 7)

    slider(explorer, "Stride").press("ArrowRight")
    expect(cells(explorer, "output")).to_have_count(3 * 4)
    assert explorer.locator('.cl-panel[data-name="output"]').get_attribute("data-cols") == "4"

    cells(explorer, "output").nth(1 * 4 + 1).hover()  # its window is h = 1 … 3, w = 1 … 3
    found = [str(cell.get_attribute("aria-label")).split(" = ")[0] for cell in lit(explorer, "input").all()]
    assert found == [f"x[h={h}, w={w}]" for h in (1, 2, 3) for w in (1, 2, 3)]
    expect(lit(explorer, "filter")).to_have_count(9)
    assert notebook.errors == []
