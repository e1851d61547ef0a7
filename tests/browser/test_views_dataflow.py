"""The explorers of dataflows, as a learner meets them; and an animation that asks the kernel for nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from .lab import Lab, Notebook
from .picture import cells, lit, slider

pytestmark = pytest.mark.browser

SOURCES = {
    "dataflow": "explore.dataflow()",
    "costs": "explore.dataflow_costs()",
    "film": (
        "views.dataflow('dram: k p q | buffer: c r s | rows: p2 | cols: q2', "
        "ConvSpec(n=1, c=2, h=6, w=6, k=2, r=3, s=3), Array(4, 4))"
    ),
}
IMPORTS = "from convlab import ConvSpec, explore, views\nfrom convlab.dataflow import Array"
# What the page sees: each step as it was drawn, and what was sent to the kernel meanwhile.
WATCH = """(figure) => {
    Object.assign(window, {drawn: [], sent: 0});
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (...all) { window.sent++; return send.apply(this, all); };
    const caption = figure.closest(".cl-root").querySelector(".cl-caption");
    const look = () => {
        const step = parseInt(caption.textContent);
        if (step !== window.drawn.at(-1)) window.drawn.push(step);
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


@pytest.fixture(scope="module")
def notebook(lab: Lab) -> Iterator[Notebook]:
    with lab.running("views_dataflow.ipynb", IMPORTS, *SOURCES.values()) as opened:
        yield opened


def explorer(notebook: Notebook, name: str) -> Locator:
    return notebook.cell(1 + list(SOURCES).index(name))


def test_steps_show_who_holds_what_and_a_pe_lights_its_words_and_its_loops(notebook: Notebook) -> None:
    dataflow = explorer(notebook, "dataflow")
    expect(dataflow.locator(".cl-view")).to_contain_text("Weight stationary on 4 × 4 PEs, cycle by cycle")
    step = dataflow.get_by_role("button", name="Step on")
    for _ in range(5):
        step.click()
    expect(dataflow.locator(".cl-caption")).to_contain_text("6 of 49: 6 of 16 PEs multiply. Moves: ")
    assert dataflow.locator(".cl-arrows path").last.get_attribute("d")
    weight = cells(dataflow, "PEs").nth(2)
    expect(weight).to_have_attribute("aria-label", "PE (0, 1), its weight: 1,0,0")
    weight.hover()
    expect(lit(dataflow, "w")).to_have_attribute("aria-label", "w[k=1, c=0, r=0, s=0] = −1")
    labels = [str(each.get_attribute("aria-label")).partition(".")[0] for each in lit(dataflow, "loop nest").all()]
    assert "cols: k = 1 of 0 to 1" in labels
    assert len(labels) == 5
    cells(dataflow, "loop nest").nth(4).hover()  # the second loop
    expect(dataflow.locator(".cl-status")).to_contain_text("As it advances (")
    expect(lit(dataflow, "words")).not_to_have_count(0)


def test_another_dataflow_and_another_layer_are_run_at_once(notebook: Notebook) -> None:
    dataflow = explorer(notebook, "dataflow")
    picture = dataflow.locator(".cl-view")
    dataflow.get_by_label("Dataflow", exact=True).select_option("row stationary")
    expect(picture).to_contain_text("Row stationary on 4 × 4 PEs")
    slider(dataflow, "Padding").press("ArrowRight")
    expect(picture).to_contain_text("324 multiply-adds")  # of one filter: more would take too long
    slider(dataflow, "Rows of PEs").press("ArrowLeft")
    expect(picture).to_contain_text("on 3 × 4 PEs")
    dataflow.get_by_role("button", name="Reset").click()
    expect(picture).to_contain_text("Weight stationary on 4 × 4 PEs")


def test_costs_of_two_dataflows_stand_side_by_side(notebook: Notebook) -> None:
    costs = explorer(notebook, "costs")
    picture = costs.locator(".cl-view")
    expect(picture).to_contain_text("Row stationary takes the least energy")
    cells(costs, "words of weight stationary").first.hover()
    expect(lit(costs, "words of row stationary")).to_have_count(1)
    expect(lit(costs, "energy by level")).to_have_count(2)  # in all, and at DRAM
    cells(costs, "loops of row stationary").first.click()
    expect(costs.locator(".cl-status")).to_contain_text("is used again")
    costs.get_by_label("Beside", exact=True).select_option("all")
    expect(picture).to_contain_text("What 5 dataflows cost")


@pytest.mark.slow
def test_an_animation_plays_at_thirty_steps_a_second_without_the_kernel(notebook: Notebook) -> None:
    film, page = explorer(notebook, "film"), notebook.page
    film.scroll_into_view_if_needed()
    film.get_by_label("Speed").select_option("60 a second")
    browser = page.context.new_cdp_session(page)
    # Time that the page's thread works: it stays the same, whatever else the machine is busy with.
    browser.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        found = browser.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))

    film.locator(".cl-figure").evaluate(WATCH)
    before = worked()
    film.get_by_role("button", name="Play").click()
    expect(film.get_by_role("button", name="Pause")).to_be_visible()
    expect(film.get_by_role("button", name="Play")).to_be_visible(timeout=60_000)
    steps = film.locator(".cl-slide").evaluate("(slider) => Number(slider.max)")
    seconds = (worked() - before) / steps
    assert steps > 140
    assert page.evaluate("drawn") == [*range(1, steps + 1)]  # the screen had every cycle
    assert page.evaluate("sent") == 0
    assert 0 < seconds < 1 / 30
