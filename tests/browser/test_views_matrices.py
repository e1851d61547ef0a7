"""The pictures of matrices, padding, groups and receptive fields as a learner meets them: hover, keys, steps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

EXPLORERS = (
    "im2col()",
    'window(4, 5, padding=2, border="reflect")',
    "groups()",
    "receptive_field()",
    "implicit_gemm()",
)


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    sources = ["from convlab import explore", *(f"explore.{each}" for each in EXPLORERS)]
    with lab.running("matrices.ipynb", *sources) as opened:
        yield opened


def explorer(notebook: Notebook, name: str) -> Locator:
    """The explorer of a name, with nothing lit by the mouse."""
    notebook.page.mouse.move(0, 0)
    number = next(at for at, each in enumerate(EXPLORERS, start=1) if each.startswith(f"{name}("))
    return notebook.cell(number)


def texts(some: Locator) -> str:
    return "".join(some.locator("text").all_text_contents())


def test_an_output_of_im2col_lights_its_window_its_column_and_the_weights(notebook: Notebook) -> None:
    im2col = explorer(notebook, "im2col")
    cells(im2col, "product").nth(2).hover()
    assert texts(lit(im2col, "input")) == texts(lit(im2col, "matrix")) == "degh"
    expect(lit(im2col, "weights")).to_have_count(4)
    status = im2col.locator(".cl-status")
    expect(status).to_contain_text("y[p=1, q=0] = 2·d + e + 3·g + 4·h. Lit: 4 of input, 4 of matrix (2 copy)")


def test_a_pixel_of_im2col_lights_all_its_copies(notebook: Notebook) -> None:
    im2col = explorer(notebook, "im2col")
    cells(im2col, "input").nth(4).hover()
    assert texts(lit(im2col, "matrix")) == "eeee"
    expect(lit(im2col, "product")).to_have_count(4)


def test_chunks_of_im2col_are_stepped_through(notebook: Notebook) -> None:
    im2col = explorer(notebook, "im2col")
    slider(im2col, "Chunk (0: none)").press("ArrowRight")
    expect(im2col.locator(".cl-caption")).to_contain_text("1 of 4: chunk 1 of 4: 1 column from 0 on, 16 bytes")
    assert texts(cells(im2col, "matrix")) == "abde"
    im2col.get_by_role("button", name="Step on").click()
    assert texts(cells(im2col, "matrix")) == "bcef"
    assert texts(cells(im2col, "product")) == "y0y1"
    im2col.get_by_role("button", name="Reset").click()
    expect(im2col.locator(".cl-steps")).to_be_hidden()
    assert texts(cells(im2col, "matrix")) == "abdebcefdeghefhi"


def test_padding_lights_the_pixel_that_it_repeats(notebook: Notebook) -> None:
    window = explorer(notebook, "window")
    cells(window, "input").first.hover()
    expect(lit(window, "input")).to_have_count(1)
    expect(lit(window, "input")).to_have_attribute("aria-label", "x[h=2, w=2] = 9")
    window.get_by_label("Padding shows").select_option(label="zeros")
    expect(window.locator(".cl-cell.cl-padding").first).to_be_visible()
    cells(window, "input").first.hover()
    expect(lit(window, "input")).to_have_count(0)


def test_a_filter_lights_the_channels_that_it_sees(notebook: Notebook) -> None:
    groups = explorer(notebook, "groups")
    cells(groups, "filters").first.hover()
    assert texts(lit(groups, "channels")) == "012"
    slider(groups, "Filter k").press("ArrowRight")
    expect(groups.locator(".cl-view")).to_contain_text("Input x[0, 3]")
    expect(groups.locator(".cl-view")).to_contain_text("Filter w[3, 0]")


def test_a_receptive_field_grows_layer_by_layer(notebook: Notebook) -> None:
    fields = explorer(notebook, "receptive_field")
    cells(fields, "output").nth(10).click()
    for name, count in (("layer 2", 3), ("layer 1", 5), ("input", 7)):
        expect(lit(fields, name)).to_have_count(count)
    notebook.page.keyboard.press("ArrowRight")
    expect(fields.locator(".cl-waste.cl-lit")).to_have_count(6)  # the neighbour reads what the marked one skips
    notebook.page.keyboard.press("Escape")
    slider(fields, "Dilation of 1").press("ArrowLeft")
    expect(fields.locator(".cl-view")).to_contain_text("An output spans 1 + 2·1·1 + 2·2·1 + 2·2·1 = 11 pixels")


def test_an_element_of_the_tile_lights_its_pixel_and_is_taken_apart(notebook: Notebook) -> None:
    gemm = explorer(notebook, "implicit_gemm")
    made = gemm.locator('.cl-panel[data-name="matrix"] .cl-shared')
    expect(made.first).to_have_class("cl-cell cl-shared cl-lit")
    first = made.count()
    gemm.get_by_role("button", name="Step on").click()
    expect(gemm.locator(".cl-caption")).to_contain_text("2 of 2: gemm_k = 8 to 11: from c = 8 // 4 = 2")
    assert 0 < made.count() < first
    cells(gemm, "matrix").nth(16).hover()
    expect(lit(gemm, "input")).to_have_count(1)
    expect(gemm.locator(".cl-status")).to_contain_text("gemm_k = 1: c = 1 // 4 = 0, r = 1 % 4 // 2 = 0, s = 1 % 2 = 1;")
