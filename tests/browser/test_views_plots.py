"""Plots, and the two pictures of latency and of a GPU, as a learner meets them in JupyterLab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

SOURCES = {
    "roofline": "explore.roofline(c=64)",
    "occupancy": "explore.occupancy(registers=64)",
    "latency": "explore.latency(warps=2, busy=4, wait=12)",
    "gpu": 'views.gpu("A100")',
}


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    with lab.running("plots.ipynb", "from convlab import explore, views", *SOURCES.values()) as opened:
        yield opened


def shown(notebook: Notebook, name: str) -> Locator:
    return notebook.cell(1 + list(SOURCES).index(name))


def image(plot: Locator) -> str:
    return str(plot.locator(".cl-view image").get_attribute("href"))


def test_a_layer_moves_under_its_roof(notebook: Notebook) -> None:
    plot = shown(notebook, "roofline")
    before = image(plot)
    expect(plot.get_by_role("img", name="A100, float32")).to_be_visible()
    expect(plot.locator(".cl-status")).to_contain_text("With compulsory bytes: 143 FLOP per byte")
    plot.get_by_label("Kind", exact=True).select_option("depthwise: K = C, each filter sees one channel")
    expect(plot.locator(".cl-status")).to_contain_text("bound by the bandwidth of DRAM")
    expect(plot.get_by_label("Filters K", exact=True)).to_be_disabled()
    assert image(plot) != before


def test_one_register_more_costs_a_block(notebook: Notebook) -> None:
    plot = shown(notebook, "occupancy")
    before = image(plot)
    expect(plot.locator(".cl-status")).to_contain_text("4 blocks, 32 of 64 warps")
    slider(plot, "Registers a thread").press("ArrowRight")
    expect(plot.locator(".cl-status")).to_contain_text("3 blocks, 24 of 64 warps")
    assert image(plot) != before


def test_warps_fill_each_other_s_waits(notebook: Notebook) -> None:
    picture = shown(notebook, "latency")
    cells(picture, "scheduler").nth(17).hover()
    expect(picture.locator(".cl-status")).to_contain_text("Cycle 17: an instruction of warp 0. Lit: 2 of warps.")
    for _ in range(2):
        slider(picture, "Warps").press("ArrowRight")
    expect(picture.locator(".cl-view")).to_contain_text("in the steady state 16 of 16 cycles issue")


def test_a_gpu_is_walked_through(notebook: Notebook) -> None:
    picture = shown(notebook, "gpu")
    picture.get_by_role("button", name="Step on").click()
    expect(picture.locator(".cl-caption")).to_contain_text("2 of 8: a GPU is 108 processors")
    expect(lit(picture, "SMs")).to_have_count(108)
