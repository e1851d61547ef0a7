"""The window explorer as a learner meets it: in JupyterLab, with a mouse and with a keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    source = "explorer = explore.window(h=6, w=7, r=3, s=2, padding=1)\nexplorer"
    with lab.running("explorer.ipynb", "from convlab import explore", source) as opened:
        yield opened


@pytest.fixture
def explorer(notebook: Notebook) -> Locator:
    """The explorer, with its controls where they were at first and nothing lit."""
    output = notebook.cell(1)
    for label, value in (("Input height H", 6), ("Filter height R", 3), ("Stride", 1)):
        type_into(output, label, value)
    expect(cells(output, "output")).to_have_count(6 * 8)
    notebook.page.mouse.move(0, 0)
    return output


def type_into(explorer: Locator, label: str, value: int) -> None:
    field = explorer.get_by_label(label, exact=True)
    field.fill(str(value))
    field.press("Enter")


def labels(some: Locator) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in some.all()]


def test_the_stride_slider_moves_by_keyboard_and_the_output_follows(explorer: Locator) -> None:
    slider(explorer, "Stride").press("ArrowRight")
    expect(cells(explorer, "output")).to_have_count(3 * 4)
    assert explorer.locator('.cl-panel[data-name="output"]').get_attribute("data-cols") == "4"
    expect(explorer.get_by_label("Stride", exact=True)).to_have_value("2")
    expect(explorer.locator(".cl-view")).to_contain_text("⌊(6 + 1 + 1 − 1·(3 − 1) − 1) / 2⌋ + 1 = 3")


def test_hovering_an_output_cell_lights_its_window(explorer: Locator) -> None:
    cells(explorer, "output").nth(1 * 8 + 2).hover()  # y[p=1, q=2]
    found = labels(lit(explorer, "input"))
    assert [label.split(" ")[0:2] for label in found] == [[f"x[h={h},", f"w={w}]"] for h in (0, 1, 2) for w in (1, 2)]
    expect(lit(explorer, "filter")).to_have_count(6)
    expect(explorer.locator(".cl-status")).to_contain_text("Lit: 6 of input, 6 of filter.")


def test_a_window_at_the_corner_counts_its_padding(explorer: Locator) -> None:
    cells(explorer, "output").first.hover()
    expect(lit(explorer, "input")).to_have_count(6)
    expect(explorer.locator(".cl-padding.cl-lit")).to_have_count(4)
    expect(explorer.locator(".cl-status")).to_contain_text("Lit: 6 of input (4 padding), 6 of filter.")


def test_hovering_an_input_cell_lights_every_output_that_reads_it(explorer: Locator) -> None:
    cells(explorer, "input").nth(2 * 9 + 3).hover()  # x[h=1, w=2]
    starts = [label.split(" = ")[0] for label in labels(lit(explorer, "output"))]
    assert starts == [f"y[p={p}, q={q}]" for p in (0, 1, 2) for q in (2, 3)]
    expect(lit(explorer, "filter")).to_have_count(6)


def test_arrow_keys_walk_a_panel_and_escape_gives_the_keys_back(explorer: Locator, notebook: Notebook) -> None:
    outputs, keyboard = cells(explorer, "output"), notebook.page.keyboard
    outputs.first.click()
    for key in ("ArrowDown", "ArrowRight", "ArrowDown"):
        keyboard.press(key)
    expect(outputs.nth(2 * 8 + 1)).to_be_focused()
    assert labels(lit(explorer, "input"))[0].startswith("x[h=1, w=0]")
    keyboard.press("Shift+Tab")
    expect(cells(explorer, "filter").first).to_be_focused()
    expect(lit(explorer, "output")).to_have_count(6 * 8)
    active = notebook.page.locator(".jp-Cell.jp-mod-active")
    expect(active).to_contain_text("explorer = explore.window")  # the arrows did not reach JupyterLab
    keyboard.press("Escape")
    expect(explorer.locator(".cl-lit")).to_have_count(0)
    keyboard.press("ArrowUp")
    expect(active).to_contain_text("from convlab import explore")


def test_a_filter_that_does_not_fit_says_why_in_place(explorer: Locator) -> None:
    type_into(explorer, "Input height H", 4)
    type_into(explorer, "Filter height R", 7)
    message = explorer.locator(".cl-message")
    expect(message).to_contain_text("No output: the window spans 7")
    expect(cells(explorer, "output")).to_have_count(0)
    type_into(explorer, "Filter height R", 6)
    expect(message).to_have_count(0)
    expect(cells(explorer, "output")).to_have_count(1 * 8)


def test_a_fast_hand_ends_at_the_right_picture(explorer: Locator, notebook: Notebook) -> None:
    slider(explorer, "Input height H").focus()
    for key in 3 * [*5 * ["ArrowRight"], *4 * ["ArrowLeft"]]:
        notebook.page.keyboard.press(key)
    expect(explorer.get_by_label("Input height H", exact=True)).to_have_value("9")
    expect(cells(explorer, "output")).to_have_count(9 * 8)
    for key in 3 * [*5 * ["ArrowRight"], *4 * ["ArrowLeft"]]:
        notebook.page.keyboard.press(key)
    type_into(explorer, "Input height H", 5)  # while pictures for the slider are still on their way
    expect(cells(explorer, "output")).to_have_count(5 * 8)
    notebook.wait_idle()
    expect(slider(explorer, "Input height H")).to_have_attribute("aria-valuetext", "5")
    expect(cells(explorer, "output")).to_have_count(5 * 8)


def test_a_new_picture_keeps_lit_what_the_mouse_points_at(explorer: Locator) -> None:
    cells(explorer, "output").first.hover()
    slider(explorer, "Stride").press("ArrowRight")  # focuses the slider; the mouse stays
    expect(cells(explorer, "output")).to_have_count(3 * 4)
    expect(lit(explorer, "input")).to_have_count(6)
    expect(explorer.locator(".cl-here")).to_have_count(1)


def test_a_copied_link_opens_the_notebook_with_the_explorer_as_it_was(explorer: Locator, notebook: Notebook) -> None:
    slider(explorer, "Stride").press("ArrowRight")
    expect(cells(explorer, "output")).to_have_count(3 * 4)
    notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    explorer.get_by_role("button", name="Copy a link to this state").click()
    expect(explorer.get_by_role("button", name="Copied")).to_be_visible()
    other = Notebook(notebook.page.context.new_page())
    other.open(notebook.page.evaluate("navigator.clipboard.readText()"))
    other.run_all()
    expect(other.cell(1).get_by_label("Stride", exact=True)).to_have_value("2")
    expect(cells(other.cell(1), "output")).to_have_count(3 * 4)
    assert (other.errors, other.python_errors()) == ([], [])
    other.page.close()
