"""The front end alone: linked_grid.js on an empty page, with a model that is as small as anywidget's can be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import convlab.views
from convlab.views import Frame, Panel, View, join, pairs

from . import lab as lab_module
from .lab import Lab

pytestmark = pytest.mark.browser

SCRIPT = (Path(convlab.views.__file__).parent / "linked_grid.js").read_text(encoding="utf-8")
MOUNT = """async ([script, picture, traits]) => {
    const handlers = new Set();
    const model = {
        traits: {picture, pressed: [-1, 0], call: "", state: "", wish: "", ...traits},
        get: (name) => model.traits[name],
        set: (name, value) => { model.traits[name] = value; },
        save_changes: () => { window.saved += 1; },
        on: (_, handle) => handlers.add(handle),
        off: (_, handle) => handlers.delete(handle),
    };
    Object.assign(window, {model, handlers, saved: 0, listeners: 0});
    window.show = (next) => { model.traits.picture = next; handlers.forEach((handle) => handle()); };
    const added = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (...all) { window.listeners++; added.apply(this, all); };
    const module = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    window.leave = module.default.render({model, el: document.body});
}"""


def picture(view: View) -> str:
    return str(view.widget.picture)


def sums(lanes: int, frames: int = 0) -> View:
    """Two rows of lanes, and below them the sum of each column."""
    labels = [f"a[{i}, {j}]" for i in range(2) for j in range(lanes)]
    a = Panel(name="a", title="a", rows=2, cols=lanes, labels=labels, values=["1"] * (2 * lanes))
    b = Panel(name="b", title="b", rows=1, cols=lanes, labels=[f"b[{j}]" for j in range(lanes)], values=["?"] * lanes)
    columns = np.arange(lanes)
    steps = [
        Frame(f"column {j}", 2 * lanes + j, (j, lanes + j), {2 * lanes + j: "2"}, {j: "waste"}) for j in range(frames)
    ]
    links = pairs(columns + np.array([[0], [lanes]]), columns + 2 * lanes)
    return View(title="Sums", alt="b sums a.", panels=(a, b), links=links, frames=steps)


@pytest.fixture
def page(lab: Lab) -> Page:
    page = lab.browser.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    return page


def mount(page: Page, view: View, **traits: str) -> None:
    page.evaluate(MOUNT, [SCRIPT, picture(view), traits])


def lit(page: Page) -> list[str]:
    return [str(cell.get_attribute("aria-label")) for cell in page.locator(".cl-lit").all()]


def listen(page: Page) -> Callable[[], list[str]]:
    """Note the keys that reach the page, as JupyterLab's shortcuts need them to."""
    page.evaluate("() => { window.heard = []; document.addEventListener('keydown', ({ key }) => heard.push(key)); }")
    return lambda: list(page.evaluate("heard"))


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
    heard = listen(page)
    page.get_by_label("b[0]").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert lit(page) == []
    assert heard() == []
    page.keyboard.press("ArrowRight")
    assert lit(page) == []
    assert heard() == ["ArrowRight"]
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
    assert kinds(page) == ["plain", "waste", "plain"]
    page.evaluate("(next) => show(next)", picture(sums(3)))
    expect(forward).to_be_hidden()
    assert lit(page) == []
    assert kinds(page) == ["plain", "plain", "plain"]


def kinds(page: Page) -> list[str]:
    """The kinds of the first row of a."""
    classes = [str(page.locator(".cl-cell").nth(i).get_attribute("class")).split()[1] for i in range(3)]
    return [name.removeprefix("cl-") for name in classes]


def test_steps_play_to_their_end_and_a_hand_stops_them(page: Page) -> None:
    page.clock.install()
    mount(page, sums(3, frames=3))
    caption, player = page.locator(".cl-caption"), page.locator(".cl-step").nth(1)
    expect(player).to_have_attribute("aria-label", "Play")
    player.click()
    expect(player).to_have_attribute("aria-label", "Pause")
    page.clock.run_for(1100)
    expect(caption).to_have_text("2 of 3: column 1")
    page.clock.run_for(3000)
    expect(caption).to_have_text("3 of 3: column 2")
    expect(player).to_have_attribute("aria-label", "Play")
    player.click()  # from the end it begins anew
    expect(caption).to_have_text("1 of 3: column 0")
    page.get_by_role("slider", name="Step").press("ArrowRight")
    expect(caption).to_have_text("2 of 3: column 1")
    expect(player).to_have_attribute("aria-label", "Play")
    page.clock.run_for(3000)
    expect(caption).to_have_text("2 of 3: column 1")
    player.click()
    page.evaluate("leave()")
    page.clock.run_for(3000)
    expect(caption).to_have_text("2 of 3: column 1")


def test_many_steps_have_a_speed_and_few_are_for_reading(page: Page) -> None:
    page.clock.install(time=0)
    mount(page, sums(60, frames=60))
    page.clock.pause_at(100)  # milliseconds; from here on time goes by hand
    caption, player, speed = page.locator(".cl-caption"), page.locator(".cl-step").nth(1), page.get_by_label("Speed")
    expect(speed).to_have_value("4")
    player.click()
    expect(caption).to_have_attribute("aria-live", "off")
    page.clock.run_for(2050)
    expect(caption).to_have_text("9 of 60: column 8")
    speed.select_option("30 a second")
    page.clock.run_for(1050)
    at = int(caption.inner_text().split(" of ")[0])
    assert at in range(37, 42)
    page.clock.run_for(1000)
    expect(caption).to_have_text("60 of 60: column 59")
    expect(caption).to_have_attribute("aria-live", "polite")
    page.evaluate("(next) => show(next)", picture(sums(3, frames=3)))
    expect(speed).to_be_hidden()


def linked_frames() -> View:
    """Two cells in a row, and another pair of links and arrows in each of two steps."""
    row = Panel(name="a", title="a", rows=1, cols=3, labels=("a", "b", "c"), values="123", spoken=True)
    steps = [Frame("on", values={0: "7"}, links=pairs([0], [1]), arrows=[(0, 1)]), Frame("off", links=pairs([0], [2]))]
    return View(title="t", alt="a", panels=[row], links=pairs([1], [2]), frames=steps)


def test_links_of_a_step_join_those_of_the_picture_and_go_with_it(page: Page) -> None:
    mount(page, linked_frames())
    page.locator(".cl-cell").nth(1).hover()
    assert lit(page) == ["a: 7", "c"]
    page.get_by_role("button", name="Step on").click()
    page.locator(".cl-cell").nth(1).hover()
    assert lit(page) == ["c"]
    page.locator(".cl-cell").first.hover()
    assert lit(page) == ["c"]


def test_arrows_and_what_is_said_follow_the_step(page: Page) -> None:
    mount(page, linked_frames())
    arrows = page.locator(".cl-arrows path").last
    expect(arrows).to_have_attribute("d", re.compile("^M4"))
    expect(page.locator(".cl-cell").first).to_have_attribute("aria-label", "a: 7")
    page.get_by_role("button", name="Step on").click()
    expect(arrows).to_have_attribute("d", "")
    expect(page.locator(".cl-cell").first).to_have_attribute("aria-label", "a")


def test_a_switch_is_pressed_by_mouse_enter_and_space(page: Page) -> None:
    labels = ("bit 1", "bit 0")
    bits = Panel(name="bits", title="bits", rows=1, cols=2, labels=labels, values=("0", "1"), switch=True)
    mount(page, View(title="t", alt="a", panels=(*sums(3).panels, bits)))
    page.get_by_label("a[0, 1]").click()
    assert page.evaluate("saved") == 0
    page.get_by_label("bit 0").click()
    assert page.evaluate("model.traits.pressed") == [10, 1]
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    page.keyboard.press(" ")
    assert page.evaluate("model.traits.pressed") == [9, 3]
    assert page.evaluate("saved") == 3


def test_keys_on_the_steps_do_not_reach_the_page(page: Page) -> None:
    """JupyterLab would go to another cell."""
    mount(page, sums(3, frames=3))
    heard = listen(page)
    steps = page.get_by_role("slider", name="Step")
    for key in ("ArrowUp", "ArrowUp", "ArrowDown"):
        steps.press(key)
    expect(page.locator(".cl-caption")).to_have_text("2 of 3: column 1")
    assert heard() == []
    steps.press("Tab")
    assert heard() == ["Tab"]


def test_a_pair_that_is_there_twice_counts_once(page: Page) -> None:
    once = sums(3)
    mount(page, replace(once, links=join(once.links, once.links[:, ::-1], once.links)))
    page.get_by_label("b[1]").hover()
    expect(page.get_by_role("status")).to_have_text("b[1]. Lit: 2 of a.")


def test_a_link_is_copied_and_a_page_opened_by_it_asks_for_its_state(page: Page) -> None:
    address = "http://localhost:9/lab/tree/a.ipynb"
    page.route(f"{address}*", lambda route: route.fulfill(body="<p>JupyterLab</p>", content_type="text/html"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(address)
    mount(page, sums(3), call="explore.sums", state="lanes:3,mode:same")
    page.get_by_role("button", name="Copy a link to this state").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == f"{address}?explore.sums=lanes%3A3%2Cmode%3Asame"
    assert page.evaluate("model.traits.wish") == ""
    page.goto(link)
    page.evaluate("history.replaceState(null, '', '/lab')")  # as JupyterLab does
    mount(page, sums(3), call="explore.sums", state="lanes:5,mode:same")
    assert page.evaluate("model.traits.wish") == "lanes:3,mode:same"
    page.goto(link)
    mount(page, sums(3), call="explore.others", state="lanes:5")
    assert page.evaluate("model.traits.wish") == ""


def test_an_exported_picture_answers_without_a_model(page: Page) -> None:
    page.set_content(f"<p>Before.</p>{picture(sums(3, frames=2))}<p>After.</p>")
    page.evaluate(
        """async (script) => {
            const module = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
            module.enliven(document.querySelector("svg.cl-view"));
        }""",
        SCRIPT,
    )
    page.get_by_label("b[1]").hover()
    assert lit(page) == ["a[0, 1]", "a[1, 1]"]
    page.get_by_role("button", name="Step on").click()
    expect(page.locator(".cl-caption")).to_have_text("2 of 2: column 1")
    assert page.locator(".cl-view").count() == 1


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
