"""Fragments, idle multipliers, number formats, running sums and Winograd as a learner meets them in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

NAMES = ("fragments", "idle_multipliers", "number_formats", "running_sum", "winograd")


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    sources = [f"explore.{name}()" for name in NAMES]
    with lab.running("numbers.ipynb", "from convlab import explore", *sources) as opened:
        yield opened


@pytest.fixture
def explorers(notebook: Notebook) -> dict[str, Locator]:
    notebook.page.mouse.move(0, 0)
    return {name: notebook.cell(i) for i, name in enumerate(NAMES, start=1)}


def caption(explorer: Locator) -> Locator:
    return explorer.locator(".cl-caption")


def test_hovering_a_lane_lights_what_it_holds(explorers: dict[str, Locator]) -> None:
    explorer = explorers["fragments"]
    cells(explorer, "lanes").nth(6).hover()
    expect(explorer.locator(".cl-status")).to_contain_text(
        "lane 6: 8 of A, 4 of B, 4 of D. Lit: 8 of A, 4 of B, 4 of D."
    )
    cells(explorer, "D").nth(8 + 2).hover()  # D[1, 2] needs row 1 of A and column 2 of B
    expect(lit(explorer, "A")).to_have_count(16)
    expect(lit(explorer, "B")).to_have_count(16)
    expect(lit(explorer, "lanes")).to_have_count(1)


def test_a_step_of_the_product_lights_a_column_and_a_row(explorers: dict[str, Locator]) -> None:
    explorer = explorers["fragments"]
    for _ in range(2):
        explorer.get_by_label("Step on").click()
    explorer.page.mouse.move(0, 0)
    expect(caption(explorer)).to_contain_text("k = 1: column 1 of A times row 1 of B")
    expect(lit(explorer, "A")).to_have_count(16)
    expect(lit(explorer, "B")).to_have_count(8)
    expect(lit(explorer, "D")).to_have_count(128)
    explorer.get_by_label("Instruction", exact=True).select_option(label="mma m8n8k4, FP64")
    expect(cells(explorer, "A")).to_have_count(8 * 4)


def test_steps_repaint_the_multipliers(explorers: dict[str, Locator]) -> None:
    explorer = explorers["idle_multipliers"]
    idle = explorer.locator('.cl-panel[data-name="multipliers"] .cl-idle')
    expect(idle).to_have_count(9 * 16)
    explorer.get_by_label("Step on").click()
    expect(idle).to_have_count(16 * 16 - 7 * 11)
    explorer.get_by_label("Sum", exact=True).select_option("one tap after the other")
    expect(idle).to_have_count(16 * 16 - 7 * 3)
    expect(explorer.locator(".cl-view")).to_contain_text("27 of 144 = 19 %")


def expect_bits(explorer: Locator, bits: str) -> None:
    expect(cells(explorer, "bits")).to_have_text([*bits])


def test_a_click_and_the_space_bar_flip_bits(explorers: dict[str, Locator], notebook: Notebook) -> None:
    explorer = explorers["number_formats"]
    field = explorer.get_by_label("Number, or bits", exact=True)
    cells(explorer, "bits").first.click()
    expect(field).to_have_value("-0.0999755859375")
    notebook.page.keyboard.press("ArrowRight")
    notebook.page.keyboard.press("Space")
    expect(field).to_have_value("-6552.0")
    expect(cells(explorer, "bits").nth(1)).to_be_focused()
    notebook.page.keyboard.press("Enter")
    expect(field).to_have_value("-0.0999755859375")
    expect_bits(explorer, "1010111001100110")


def test_a_number_is_rounded_when_it_is_entered(explorers: dict[str, Locator]) -> None:
    explorer = explorers["number_formats"]
    field = explorer.get_by_label("Number, or bits", exact=True)
    field.fill("2049")
    field.press("Enter")
    expect(explorer.locator(".cl-title")).to_have_text("2049 in FP16: 2048")
    field.fill("two")
    field.press("Enter")
    expect(explorer.locator(".cl-message")).to_contain_text("'two' is no number.")
    field.fill("1")
    field.press("Enter")
    explorer.get_by_label("Format", exact=True).select_option(label="INT8")
    expect_bits(explorer, "00000001")


def test_a_row_of_sums_lights_together_and_steps_count(explorers: dict[str, Locator]) -> None:
    explorer = explorers["running_sum"]
    cells(explorer, "float16").nth(9).hover()
    for name in ("exact", "bfloat16", "float32"):
        expect(lit(explorer, name)).to_have_count(1)
    expect(explorer.locator(".cl-status")).to_contain_text("FP16 after 5120 terms: 4.")
    field = explorer.get_by_label("Each is", exact=True)
    field.fill("1")
    field.press("Enter")
    expect(explorer.locator(".cl-view")).to_contain_text("FP16 stops at 2048 after 2048 terms")


def test_the_tile_moves_and_its_stages_play(explorers: dict[str, Locator], notebook: Notebook) -> None:
    explorer = explorers["winograd"]
    slider(explorer, "Tile row").press("ArrowRight")
    expect(explorer.locator(".cl-title")).to_contain_text("tile 1, 0 of 3 × 3")
    explorer.get_by_label("Step on").click()
    notebook.page.mouse.move(0, 0)
    expect(caption(explorer)).to_contain_text("V = Bᵀ d B")
    assert [lit(explorer, name).count() for name in ("input", "Bᵀ", "V", "M")] == [16, 16, 16, 0]
    cells(explorer, "output").nth(2 * 6).hover()  # in the tile: the inputs, nine products, and rows of Aᵀ
    expect(explorer.locator(".cl-status")).to_contain_text("Lit: 16 of input")
    expect(lit(explorer, "M")).to_have_count(9)
    cells(explorer, "V").nth(5).hover()
    expect(lit(explorer, "M")).to_have_count(1)
    expect(lit(explorer, "input")).to_have_count(4)
