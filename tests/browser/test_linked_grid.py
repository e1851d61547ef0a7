"""The front end alone: linked_grid.js on an empty page, with a model that is as small as anywidget's can be."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import convlab.views
from convlab.views import Frame, Panel, View, pairs

from . import lab as lab_module
from .lab import Lab

pytestmark = pytest.mark.browser

SCRIPT = (Path(convlab.views.__file__).parent / "linked_grid.js").read_text(encoding="utf-8")
MOUNT = """async ([script, picture]) => {
    const decode = ({links, ...rest}) => {
        const bytes = Uint8Array.from(atob(links), (letter) => letter.charCodeAt(0));
        const odd = new Uint8Array(bytes.length + 1);  // anywidget's DataView may begin at any byte
        odd.set(bytes, 1);
        return {...rest, links: new DataView(odd.buffer, 1)};
    };
    const handlers = new Set();
    const model = {
        get: () => model.picture,
        on: (_, handle) => handlers.add(handle),
        off: (_, handle) => handlers.delete(handle),
    };
    window.handlers = handlers;
    window.show = (next) => { model.picture = decode(next); handlers.forEach((handle) => handle()); };
    const added = EventTarget.prototype.addEventListener;
    window.listeners = 0;
    EventTarget.prototype.addEventListener = function (...all) { window.listeners++; added.apply(this, all); };
    model.picture = decode(picture);
    const module = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    window.leave = module.default.render({model, el: document.body});
}"""


def picture(view: View) -> dict[str, object]:
    sent = dict(view.widget.picture)
    return sent | {"links": base64.b64encode(sent["links"]).decode()}


def sums(lanes: int, frames: int = 0) -> View:
    """Two rows of lanes, and below them the sum of each column."""
    labels = [f"a[{i}, {j}]" for i in range(2) for j in range(lanes)]
    a = Panel(name="a", title="a", rows=2, cols=lanes, labels=labels, values=["1"] * (2 * lanes))
    b = Panel(name="b", title="b", rows=1, cols=lanes, labels=[f"b[{j}]" for j in range(lanes)], values=["?"] * lanes)
    columns = np.arange(lanes)
    steps = [Frame(f"column {j}", 2 * lanes + j, (j, lanes + j), {2 * lanes + j: "2"}) for j in range(frames)]
    links = pairs(columns + np.array([[0], [lanes]]), columns + 2 * lanes)
    return View(title="Sums", alt="b sums a.", panels=(a, b), links=links, frames=steps)


@pytest.fixture
def page(lab: Lab) -> Page:
    page = lab.browser.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    return page


def mount(page: Page, view: View) -> None:
    page.evaluate(MOUNT, [SCRIPT, picture(view)])


def lit(page: Page) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in page.locator(".cl-lit").all()]


def test_links_light_in_both_directions(page: Page) -> None:
    mount(page, sums(3))
    page.get_by_label("b[1]").hover()
    assert lit(page) == ["a[0, 1]", "a[1, 1]"]
    page.get_by_label("a[1, 2]").hover()
    assert lit(page) == ["b[2]"]
    expect(page.get_by_role("status")).to_have_text("a[1, 2]. Lit: 1 of b.")
    page.mouse.move(0, 0)
    assert lit(page) == []
    expect(page.get_by_role("status")).to_contain_text("Sums. Point at a cell")


def test_tab_stops_once_in_each_panel_where_the_focus_was(page: Page) -> None:
    mount(page, sums(3))
    page.keyboard.press("Tab")
    expect(page.get_by_label("a[0, 0]")).to_be_focused()
    for key in ("End", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(page.get_by_label("a[1, 2]")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("b[0]")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_label("a[1, 2]")).to_be_focused()
    page.keyboard.press("Control+Home")
    expect(page.get_by_label("a[0, 0]")).to_be_focused()


def test_a_new_picture_keeps_the_focus_and_adds_no_listener(page: Page) -> None:
    mount(page, sums(4))
    page.get_by_label("a[1, 3]").click()
    page.mouse.move(0, 0)
    before = page.evaluate("listeners")
    for lanes in (4, 5, 3):
        page.evaluate("(next) => show(next)", picture(sums(lanes)))
    expect(page.get_by_label("a[1, 2]")).to_be_focused()  # the panel has become narrower
    assert lit(page) == ["b[2]"]
    assert page.evaluate("listeners") == before
    assert page.locator(".cl-view").count() == 1
    page.evaluate("leave()")
    assert page.evaluate("handlers.size") == 0


def test_escape_puts_the_lights_out_and_a_key_after_it_is_not_taken(page: Page) -> None:
    mount(page, sums(3))
    page.get_by_label("b[0]").click()
    assert page.locator("[data-lm-suppress-shortcuts]").count() == 1
    page.keyboard.press("Escape")
    assert lit(page) == []
    assert page.locator("[data-lm-suppress-shortcuts]").count() == 0
    page.keyboard.press("ArrowRight")
    assert lit(page) == []
    page.get_by_label("b[0]").click()
    assert lit(page) == ["a[0, 0]", "a[1, 0]"]


def test_steps_mark_and_write_and_only_exist_where_there_are_frames(page: Page) -> None:
    mount(page, sums(3, frames=3))
    forward, back = page.get_by_role("button", name="Step on"), page.get_by_role("button", name="Step back")
    back.click()
    expect(page.locator(".cl-caption")).to_have_text("1 of 3: column 0")
    assert lit(page) == ["a[0, 0]", "a[1, 0]"]
    forward.click()
    assert page.locator('.cl-panel[data-name="b"] text').all_text_contents() == ["?", "2", "?"]
    expect(page.locator(".cl-here")).to_have_attribute("aria-label", "b[1]")
    page.get_by_label("b[2]").hover()
    assert lit(page) == ["a[0, 2]", "a[1, 2]"]
    page.mouse.move(0, 0)
    assert lit(page) == ["a[0, 1]", "a[1, 1]"]
    page.evaluate("(next) => show(next)", picture(sums(3)))
    expect(forward).to_be_hidden()
    assert lit(page) == []


def test_text_from_python_stays_text(page: Page) -> None:
    hostile = '<img src=x onerror="alert(1)">&amp;\x00'
    panel = Panel(name=hostile, title=hostile, rows=1, cols=1, labels=(hostile,), values=(hostile,))
    mount(page, View(title=hostile, alt=hostile, panels=(panel,), frames=[Frame(hostile)]))
    page.locator(".cl-cell").hover()
    assert page.locator("img").count() == 0
    shown = hostile.replace("\x00", "\ufffd")
    expect(page.get_by_role("status")).to_have_text(f"{shown}. Nothing belongs to it.")


def test_a_missing_browser_fails_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_module, "BROWSERS", ("no-such-browser",))
    message = r"No browser found: looked for no-such-browser.*\nFix: install Chromium"
    with pytest.raises(pytest.fail.Exception, match=message):
        lab_module.find_browser()
