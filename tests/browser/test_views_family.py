"""The family, transposed, epilogue and registers explorers as a learner meets them, with a mouse and a keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

SOURCES = {
    "family": "explore.family(c=4, k=6, groups=2)",
    "transposed": "explore.transposed(size=3, kernel=3, stride=2, padding=1, output_padding=1)",
    "epilogue": 'explore.epilogue("pool", channels=4, image=8)',
    "registers": 'explore.registers("gemm_register", "A100", row=7)',
}


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    with lab.running("views_family.ipynb", "from convlab import explore", *SOURCES.values()) as opened:
        yield opened


def explorer(notebook: Notebook, name: str) -> Locator:
    return notebook.cell(1 + list(SOURCES).index(name))


def labels(some: Locator) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in some.all()]


def test_hovering_an_input_channel_lights_the_outputs_that_use_it_in_all_matrices(notebook: Notebook) -> None:
    family = explorer(notebook, "family")
    cells(family, "grouped").nth(3).hover()  # input channel 2, of the second group
    users = {"standard": range(6), "grouped": range(3, 6), "depthwise": [2], "pointwise": range(6)}
    for name, outputs in users.items():
        found = [label for label in labels(lit(family, name)) if label.startswith("output")]
        assert found == [f"output channel {k}" for k in outputs]
    slider(family, "Groups G").press("ArrowLeft")
    expect(family.locator(".cl-view")).to_contain_text("Grouped, 1 group")


def test_groups_that_do_not_divide_the_channels_are_explained(notebook: Notebook) -> None:
    family = explorer(notebook, "family")
    for label, value in (("Inputs C", 8), ("Outputs K", 8)):
        type_into(family, label, value)
    expect(family.locator(".cl-view")).to_contain_text("8 → 8 channels")  # then G reaches 3
    type_into(family, "Groups G", 3)
    expect(family.locator(".cl-message")).to_contain_text("3 groups do not divide C=8")
    type_into(family, "Groups G", 4)
    expect(cells(family, "grouped")).to_have_count(9 * 9)


def test_a_transposed_convolution_steps_from_input_cell_to_input_cell(notebook: Notebook) -> None:
    transposed = explorer(notebook, "transposed")
    transposed.get_by_role("button", name="Step on").click()
    expect(transposed.locator(".cl-caption")).to_contain_text("x[h=0, w=0] = 1 adds 1 times the filter")
    transposed.get_by_role("button", name="Step on").click()
    expect(transposed.locator(".cl-caption")).to_contain_text("x[h=0, w=1] = 2 adds 2 times the filter")
    expect(lit(transposed, "output")).to_have_count(9)


def test_a_kernel_that_is_a_multiple_of_the_stride_ends_the_checkerboard(notebook: Notebook) -> None:
    transposed = explorer(notebook, "transposed")
    expect(transposed.locator(".cl-view")).to_contain_text("Uneven, a checkerboard")
    slider(transposed, "Filter R = S").press("ArrowRight")
    expect(transposed.locator(".cl-view")).to_contain_text("Even: ")
    cells(transposed, "input").nth(4).hover()
    expect(lit(transposed, "output")).to_have_count(16)
    expect(lit(transposed, "spread")).to_have_count(1)


def test_what_lies_between_kernels_lights_wherever_it_crosses_and_fusion_has_none(notebook: Notebook) -> None:
    epilogue = explorer(notebook, "epilogue")
    cells(epilogue, "conv_naive").filter(has_text="writes conv").hover()
    expect(lit(epilogue, "scale_shift_relu")).to_have_count(2)
    expect(lit(epilogue, "max_pool")).to_have_count(1)
    expect(lit(epilogue, "fused_epilogue_pool")).to_have_count(0)
    epilogue.get_by_label("Block", exact=True).select_option("depthwise, then pointwise")
    expect(cells(epilogue, "conv_pointwise")).to_have_count(4)
    expect(cells(epilogue, "separable_3x3")).to_have_count(6)


def test_a_row_of_the_registers_table_lights_and_its_number_stays_legible(notebook: Notebook) -> None:
    registers = explorer(notebook, "registers")
    row = cells(registers, "registers").nth(6)
    row.hover()
    expect(lit(registers, "sums")).to_have_count(64)
    colours = row.evaluate(
        "cell => [...cell.querySelectorAll('text, .cl-trough')].map(part => getComputedStyle(part).fill)"
    )
    trough, text = ([int(part) for part in colour.strip("rgb()").split(",")] for colour in colours)
    assert sum(trough) - sum(text) > 3 * 120
    slider(registers, "Tile: row").press("ArrowLeft")
    expect(registers.locator(".cl-view")).to_contain_text("4 × 8 outputs")
    registers.get_by_label("GPU", exact=True).select_option("T4")
    expect(registers.locator(".cl-view")).to_contain_text("of 32 warps")


def type_into(explorer: Locator, label: str, value: int) -> None:
    field = explorer.get_by_label(label, exact=True)
    field.fill(str(value))
    field.press("Enter")
