"""A view: what it refuses, and what it offers to notebooks with and without a widget manager."""

from __future__ import annotations

import base64
import json
from typing import Any
from xml.etree import ElementTree

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter

from convlab.spec import ConvSpec
from convlab.views import Frame, Panel, View, pairs, window

WIDGET = "application/vnd.jupyter.widget-view+json"


def panel(name: str, cells: int) -> Panel:
    return Panel(name=name, title=name, rows=1, cols=cells, labels=[f"{name}[{i}]" for i in range(cells)])


def view(**changes: Any) -> View:
    return View(**{"title": "t", "alt": "a", "panels": (panel("a", 3), panel("b", 2))} | changes)


def test_linked_works_in_both_directions() -> None:
    made = view(links=np.array([[0, 3], [2, 3], [4, 1], [0, 3]]))
    assert [made.linked(cell) for cell in range(5)] == [[3], [4], [3], [0, 2], [1]]


def test_ids_are_those_of_the_panels() -> None:
    assert view().ids["b"].tolist() == [[3, 4]]


@pytest.mark.parametrize(
    ("changes", "cell"),
    [
        ({"links": pairs([0, 1], [3, 5])}, 5),
        ({"links": pairs([-1], [3])}, -1),
        ({"frames": [Frame("x", lit=(0, 7))]}, 7),
        ({"frames": [Frame("x"), Frame("y", values={6: "1"})]}, 6),
        ({"frames": [Frame("x", here=8)]}, 8),
        ({"frames": [Frame("x", kinds={9: "waste"})]}, 9),
        ({"example": 5}, 5),
    ],
)
def test_a_cell_that_is_not_there_is_named(changes: dict[str, Any], cell: int) -> None:
    with pytest.raises(ValueError, match=f"Cell {cell} is not there: the panels have 5 cells") as error:
        view(**changes)
    assert "Fix: take the numbers of cells from cell_ids(panels)." in str(error.value)


@pytest.mark.parametrize("changes", [{"legend": {"nice": "w"}}, {"frames": [Frame("x", kinds={0: "nice"})]}])
def test_a_kind_that_is_not_there_is_named(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"There are no kinds \['nice'\].\n  Fix: use plain, input, "):
        view(**changes)


def test_a_picture_has_no_more_cells_than_its_links_can_number() -> None:
    many = [panel(str(i), 4096) for i in range(16)]
    with pytest.raises(ValueError, match=r"The panels have 65536 cells, more than 65535.\n  Fix: show fewer"):
        View(title="t", alt="a", panels=many)


def test_panels_need_names_of_their_own() -> None:
    with pytest.raises(ValueError, match=r"Panels share a name: a, a.\n  Fix: give each a name of its own"):
        view(panels=(panel("a", 3), panel("a", 2)))


def test_the_bundle_has_the_widget_the_picture_and_the_words() -> None:
    made = window(ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=2))
    data, _ = made._repr_mimebundle_()
    assert data.keys() == {WIDGET, "image/svg+xml", "text/plain"}
    assert data[WIDGET]["model_id"] == made.widget.model_id
    assert data["image/svg+xml"].startswith("<svg ")
    assert data["text/plain"] == made.alt


def test_displaying_a_view_again_makes_no_new_widget() -> None:
    made = view()
    models = {made._repr_mimebundle_()[0][WIDGET]["model_id"] for _ in range(3)}
    assert len(models) == 1


def test_the_picture_carries_its_links_and_steps() -> None:
    links = pairs([0, 2], [3, 4])
    frame = Frame("x < y & z", here=1, lit=(2,), values={3: "v"}, kinds={4: "waste"})
    picture = ElementTree.fromstring(view(links=links, frames=[frame]).widget.picture)
    sent = json.loads(picture.findtext("{http://www.w3.org/2000/svg}metadata", ""))
    assert np.frombuffer(base64.b64decode(sent["links"]), "<u2").reshape(-1, 2).tolist() == links.tolist()
    kinds = {"kinds": {"4": "waste"}}
    assert sent["frames"] == [{"caption": "x < y & z", "here": 1, "lit": [2], "values": {"3": "v"}, **kinds}]
    assert sent["title"] == "t"


def test_a_page_without_widgets_shows_the_picture() -> None:
    made = window(ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=2))
    output = nbformat.v4.new_output("display_data", made._repr_mimebundle_()[0])
    cell = nbformat.v4.new_code_cell("view", outputs=[output])
    html, _ = HTMLExporter(template_name="basic").from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert base64.b64encode(made.svg().encode()).decode() in html.replace("\n", "")
    assert "widget-view" not in html


def test_links_and_arrows_of_a_step_travel_with_it_alone() -> None:
    frames = [Frame("x", links=pairs([0, 1], 4), arrows=[(0, 2)]), Frame("y")]
    made = view(frames=frames)
    first, second = (ElementTree.fromstring(made.svg(i)) for i in range(2))
    sent = json.loads(first.findtext("{http://www.w3.org/2000/svg}metadata", ""))["frames"]
    assert np.frombuffer(base64.b64decode(sent[0]["links"]), "<u2").tolist() == [0, 4, 1, 4]
    layers = [each for root in (first, second) for each in root.iter() if each.get("class") == "cl-arrows"]
    assert [[path.get("d") for path in layer] for layer in layers] == [sent[0]["arrows"], ["", ""]]
    assert any(sent[0]["arrows"])
    assert sent[1].keys() == {"caption", "here", "lit", "values", "kinds"}


@pytest.mark.parametrize("frame", [Frame("x", links=pairs([0], 7)), Frame("x", arrows=[(0, 1), (7, 2)])])
def test_a_step_links_and_points_at_cells_that_are_there(frame: Frame) -> None:
    with pytest.raises(ValueError, match="Cell 7 is not there"):
        view(frames=[frame])
