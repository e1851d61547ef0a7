"""The explorers of what a block shares, as a learner meets them, with a mouse and a keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

SOURCES = {"banks": "explore.banks()", "halo": "explore.halo()", "pipeline": "explore.pipeline()"}


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    with lab.running("views_shared.ipynb", "from convlab import explore", *SOURCES.values()) as opened:
        yield opened


def explorer(notebook: Notebook, name: str) -> Locator:
    return notebook.cell(1 + list(SOURCES).index(name))


def test_a_press_on_a_pitch_ends_the_conflict_and_hovering_lights_a_wavefront(notebook: Notebook) -> None:
    banks = explorer(notebook, "banks")
    picture = banks.locator(".cl-view")
    expect(picture).to_contain_text("in 2 wavefronts")
    cells(banks, "memory").nth(32).hover()  # word 32 shares bank 0 with word 0, and comes with word 33
    expect(lit(banks, "memory")).to_have_count(2)
    cells(banks, "pitches").and_(banks.locator('[aria-label^="pitch 48:"]')).click()
    expect(picture).to_contain_text("in 1 wavefront")
    slider(banks, "Pitch of the tile").press("ArrowRight")
    expect(picture).to_contain_text("in 2 wavefronts")
    banks.get_by_label("Block", exact=True).select_option("1 thread wide: a column of 32")
    expect(picture).to_contain_text("in 1 wavefront")  # 49 is odd
    banks.get_by_role("button", name="Step on").click()
    expect(banks.locator(".cl-caption")).to_contain_text("Wavefront 1 of 1: 32 words for 32 lanes")


def test_a_round_lights_its_cells_and_their_pixels_and_another_block_takes_others(notebook: Notebook) -> None:
    halo = explorer(notebook, "halo")
    halo.get_by_role("button", name="Step on").click()
    expect(halo.locator(".cl-caption")).to_contain_text("Round 1 of 3: 8 warps bring a row each")
    expect(lit(halo, "tile")).to_have_count(8 * 18)
    expect(lit(halo, "input")).to_have_count(7 * 17)
    slider(halo, "Block").press("ArrowRight")
    expect(halo.locator(".cl-view")).to_contain_text("block 1 of 4")
    cells(halo, "tile").nth(18).hover()  # the halo left of the first row of block 1
    expect(lit(halo, "input")).to_have_attribute("aria-label", "x[h=0, w=15]: loaded by blocks 0 and 1")
    slider(halo, "Filter size R, S").press("ArrowLeft")
    slider(halo, "Filter size R, S").press("ArrowLeft")
    expect(halo.locator(".cl-view")).to_contain_text("none of them twice")


def test_a_longer_latency_is_waited_for_and_a_step_is_followed_through_both_kernels(notebook: Notebook) -> None:
    pipeline = explorer(notebook, "pipeline")
    picture = pipeline.locator(".cl-view")
    expect(picture).to_contain_text("with two 257 of 3,012")
    pipeline.get_by_role("button", name="Step on").click()
    expect(pipeline.locator(".cl-caption")).to_contain_text("Step 1. One stage: under way in cycles 0 to ")
    for panel in ("one stage", "two stages"):
        steps = lit(pipeline, panel).locator("text").all_text_contents()
        assert {*steps} == {"1"}
    latency = pipeline.get_by_label("Latency (cycles)", exact=True)
    latency.fill("1000")
    latency.press("Enter")
    expect(picture).to_contain_text("1,000 cycles for a load")
    cells(pipeline, "two stages").and_(pipeline.locator('[aria-label$="waits for step 2"]')).first.hover()
    texts = lit(pipeline, "two stages").locator("text").all_text_contents()
    assert {*texts} == {"2"}
    expect(pipeline.locator(".cl-status")).to_contain_text(f"Lit: {len(texts)} of two stages")
    slider(pipeline, "Steps along k").press("ArrowLeft")
    expect(picture).to_contain_text("3 steps of a matrix product")
