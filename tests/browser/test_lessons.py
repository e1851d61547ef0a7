"""Every lesson as a learner meets it: run all cells, move each control of each explorer, walk through each picture."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest
from playwright import sync_api as playwright
from playwright.sync_api import Locator, expect

from convlab import course

from .lab import Lab

BECOMES = "([shown, picture, same]) => (shown.innerHTML === picture) === same"
PICTURE_SECONDS = 5  # in which a picture follows its controls, on a busy machine


@pytest.mark.browser
@pytest.mark.slow  # ten to twenty seconds a lesson
@pytest.mark.parametrize("lesson", course.lessons())
def test_a_lesson_runs_and_all_that_is_in_it_moves(lab: Lab, lesson: str) -> None:
    path = course.root() / course.lesson(lesson)
    shutil.copy(path, lab.folder / path.name)
    notebook = lab.open(path.name)
    notebook.run_all()
    explorers = notebook.page.locator(".jp-CodeCell .widget-vbox:has(> .widget-gridbox)")
    expect(explorers).to_have_count(explorers_in(nbformat.read(path, as_version=4)))
    for explorer in explorers.all():
        move_all(explorer)
    for picture in notebook.page.locator(".jp-CodeCell .cl-root").all():
        walk(picture)
    notebook.wait_idle()
    assert (notebook.errors, notebook.python_errors()) == ([], [])
    notebook.page.evaluate("() => jupyterapp.serviceManager.sessions.shutdownAll()")  # eleven kernels need much memory
    notebook.page.context.close()


def explorers_in(book: nbformat.NotebookNode) -> int:
    """How many explorers the cells of a lesson show."""
    sources = [cell.source for cell in book.cells if cell.cell_type == "code"]
    return sum(len(re.findall(r"\bexplore\.(?!predict\b)\w+\(", source)) for source in sources)


def move_all(explorer: Locator) -> None:
    """Move each control alone: the picture has to change by it, and Reset has to bring the first one back."""
    first = figure(explorer)
    for control in explorer.locator(".widget-gridbox > :not(button)").all():
        if control.locator("input, select").first.is_disabled():  # it means nothing beside the others' first values
            continue
        name = control.locator("label").first.inner_text()
        assert any(changes(explorer, control, value) for value in others(control)), f"{name} changes nothing"
        explorer.get_by_role("button", name="Reset").click()
        assert becomes(explorer, first, same=True), f"after {name}, Reset does not bring the first picture back"


def others(control: Locator) -> list[str]:
    """Values for a control to move to: a number's neighbour, then its last or first; the other choices of a list."""
    field = control.locator("input, select").first
    value = field.input_value()
    if field.get_attribute("type") == "number":
        least, most = (int(str(field.get_attribute(end))) for end in ("min", "max"))
        return [str(int(value) + (1 if int(value) < most else -1)), str(most), str(least)]
    choices = control.locator("option").evaluate_all("options => options.map((option) => option.value)")
    return [choice for choice in choices if choice != value]


def changes(explorer: Locator, control: Locator, value: str) -> bool:
    """Move a control as a hand would, and say whether the picture follows."""
    before = figure(explorer)
    field, handle = control.locator("input, select").first, control.get_by_role("slider")
    if field.evaluate("field => field.tagName") == "SELECT":
        field.select_option(value)
    elif handle.count() and abs(int(value) - int(field.input_value())) == 1:
        handle.press("ArrowRight" if int(value) > int(field.input_value()) else "ArrowLeft")
    else:
        field.fill(value)
        field.press("Enter")
    return becomes(explorer, before, same=False)


def figure(explorer: Locator) -> str:
    return explorer.locator(".cl-figure").inner_html()


def becomes(explorer: Locator, picture: str, same: bool) -> bool:
    """Whether the picture differs from a former one, or is the same again, before long."""
    shown = explorer.locator(".cl-figure").element_handle()
    try:
        explorer.page.wait_for_function(BECOMES, arg=[shown, picture, same], timeout=PICTURE_SECONDS * 1000)
    except playwright.TimeoutError:
        return False
    return True


def walk(picture: Locator) -> None:
    """Point at the first cell of a picture, and take a step where it has steps."""
    for cell in picture.locator(".cl-cell").all()[:1]:
        cell.hover()
        expect(picture.locator(".cl-here")).to_have_count(1)
    if (step := picture.get_by_role("button", name="Step on")).is_visible():
        step.click()
        expect(picture.locator(".cl-caption")).to_have_text(re.compile("^2 of "))
