"""The views of threads, of their requests to memory, and of layouts, as a learner meets them in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

SOURCES = (
    "explore.threads('blocks', across=8, down=4)",
    "explore.coalescing('naive', w=20, c=1, stride=2)",
    "explore.layout(number=3)",
)


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    with lab.running("threads.ipynb", "from convlab import explore", *SOURCES) as opened:
        yield opened


@pytest.fixture
def threads(notebook: Notebook) -> Locator:
    return notebook.cell(1)


@pytest.fixture
def coalescing(notebook: Notebook) -> Locator:
    return notebook.cell(2)


@pytest.fixture
def layout(notebook: Notebook) -> Locator:
    return notebook.cell(3)


def labels(some: Locator) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in some.all()]


def test_the_steps_of_a_warp_are_walked_through(threads: Locator, notebook: Notebook) -> None:
    notebook.page.mouse.move(0, 0)
    caption = threads.locator(".cl-caption")
    expect(caption).to_contain_text("1 of 10: naive_2d.cu, line ")
    expect(caption).to_contain_text("21 lanes read x for w[k=0, c=0, r=0, s=0]; 11 meet padding.")
    for _ in range(4):
        threads.get_by_role("button", name="Step on").click()
    expect(caption).to_contain_text("5 of 10: ")
    expect(lit(threads, "output")).to_have_count(32)
    expect(lit(threads, "input")).to_have_count(32)
    assert labels(lit(threads, "filter")) == ["w[k=0, c=0, r=1, s=1]"]
    assert lit(threads, "input").all_text_contents() == [str(thread) for thread in range(32)]


def test_pointing_at_an_output_lights_all_that_its_thread_reads(threads: Locator) -> None:
    corner = cells(threads, "output").nth(12 * 4 + 8)  # p=4, q=8
    assert str(corner.get_attribute("aria-label")).startswith("y[k=0, p=4, q=8]: block 3, thread 0 ")
    corner.hover()
    assert labels(lit(threads, "input")) == [f"x[c=0, h={h}, w={w}]" for h in (3, 4, 5) for w in (7, 8, 9)]
    expect(lit(threads, "filter")).to_have_count(9)


def test_another_mapping_has_no_height_of_its_blocks(threads: Locator, notebook: Notebook) -> None:
    notebook.page.mouse.move(0, 0)
    threads.get_by_label("Threads", exact=True).select_option(label="1-D: pixels one after the other")
    expect(threads.locator(".cl-view")).to_contain_text("12 blocks of 8 threads")
    expect(threads.get_by_label("Block: y", exact=True)).to_be_disabled()
    expect(slider(threads, "Warp")).to_have_attribute("aria-valuemax", "11.0")
    slider(threads, "Warp").press("ArrowRight")
    expect(threads.locator(".cl-view")).to_contain_text("The steps are those of warp 0 of block 1, as traced")
    threads.get_by_role("button", name="Reset").click()
    expect(threads.locator(".cl-view")).to_contain_text("4 blocks of 8×4 threads")


def test_the_requests_of_a_warp_are_stepped_through(coalescing: Locator, notebook: Notebook) -> None:
    notebook.page.mouse.move(0, 0)
    caption = coalescing.locator(".cl-caption")
    while "Load of x: 32 of 32 lanes" not in str(caption.text_content()):
        coalescing.get_by_role("button", name="Step on").click()
    expect(caption).to_contain_text("lanes ask for 128 bytes. To move: ")
    expect(caption).to_contain_text(" for nothing. naive.cu, line ")
    expect(lit(coalescing, "lanes")).to_have_count(32)
    words = coalescing.locator('.cl-panel[data-name^="x"]')
    expect(words.locator(".cl-lit")).to_have_count(32)
    assert words.locator(".cl-waste").all_text_contents() == ["×"] * words.locator(".cl-waste").count()
    assert words.locator(".cl-waste").count() > 0


def test_one_request_is_chosen_and_a_lane_lights_its_word(coalescing: Locator) -> None:
    field = coalescing.get_by_label("Request (0: all)", exact=True)
    field.fill("1")
    field.press("Enter")
    expect(coalescing.locator(".cl-view")).to_contain_text("request 1 of ")
    expect(coalescing.locator(".cl-steps")).to_be_hidden()
    cells(coalescing, "lanes").nth(31).hover()
    (label,) = labels(coalescing.locator('.cl-panel:not([data-name="lanes"]) .cl-lit'))
    assert "asked for by" in label
    cells(coalescing, "lanes").first.hover()
    expect(coalescing.locator(".cl-status")).to_contain_text("lane 0 takes no part. Nothing belongs to it.")


def test_pointing_at_an_element_lights_it_and_its_neighbours_in_all_layouts(layout: Locator) -> None:
    cells(layout, "tensor").nth(1 * 64 + 2 * 8 + 5).hover()  # c=2, h=1, w=5
    expect(layout.locator(".cl-status")).to_contain_text("x[c=2, h=1, w=5]: NCHW place 77, NHWC place 106")
    expect(layout.locator(".cl-status")).to_contain_text("Lit: 6 of tensor, 7 of NCHW")
    starts = [label.partition(";")[0].partition(",")[0] for label in labels(lit(layout, "NCHW"))]
    assert [start.split()[1] for start in starts] == [str(4 * (77 + step)) for step in (-32, -8, -1, 0, 1, 8, 32)]


def test_the_load_of_channels_moves_less_of_nhwc(layout: Locator) -> None:
    expect(layout.locator('.cl-panel[data-name="NHWC"] .cl-waste')).to_have_count(256 - 32)
    layout.get_by_label("Lanes take", exact=True).select_option(label="all channels of a pixel, then of the next")
    expect(layout.locator('.cl-panel[data-name="NHWC"] .cl-waste')).to_have_count(0)
    expect(layout.locator('.cl-panel[data-name="NCHW"] .cl-waste')).to_have_count(32)
