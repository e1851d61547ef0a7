"""What a verdict says as text and in a notebook."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from convlab.checker import check
from convlab.checker.compare import Elements
from convlab.checker.errormap import error_map
from convlab.checker.verdict import Verdict

HOSTILE = '<script>alert("1")</script>&'


def verdict(**details):
    shared = {"exercise": "x", "title": "A title", "points": 1, "status": "wrong", "message": "It is wrong."}
    return Verdict(**shared | details)


@pytest.mark.parametrize("status", ["wrong", "error", "timeout", "not_attempted", "malformed"])
def test_only_ok_is_true(status):
    assert not verdict(status=status)
    assert not verdict(status=status).passed
    assert verdict(status="ok")


def test_the_text_holds_everything_in_order():
    text = str(verdict(case="x 2×3", right=1, total=4, misconception="It is flipped.", hint="Look.", printed="a\nb"))
    assert text == (
        "x, A title (1 point): not right yet\n"
        "  It is wrong.\n"
        "  The call: x 2×3 (1 of 4 cases right)\n"
        "  Likely: It is flipped.\n"
        "  Hint: Look.\n"
        "  Your code printed:\n"
        "    a\n"
        "    b"
    )


def test_what_is_empty_is_left_out():
    assert str(verdict(status="not_attempted")) == "x, A title (1 point): not attempted yet\n  It is wrong."


def test_the_page_says_the_same_and_escapes_what_others_wrote():
    elements = Elements(np.zeros((2, 3, 4, 5)), np.ones((2, 3, 4, 5)), np.ones((2, 3, 4, 5), bool))
    page = verdict(message=HOSTILE, printed=HOSTILE, omitted=7, hint=HOSTILE, errors=elements)._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 3
    assert "not right yet" in page
    assert "… and 7 more characters" in page
    assert "<svg" in page
    ET.fromstring(page)


def test_a_notebook_gets_a_live_map_and_a_page_a_still_one():
    elements = Elements(np.zeros((2, 3, 4, 5)), np.ones((2, 3, 4, 5)), np.ones((2, 3, 4, 5), bool))
    shown = verdict(errors=elements)
    bundle = shown._repr_mimebundle_()
    assert bundle.keys() == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert (bundle["text/plain"], bundle["text/html"]) == (str(shown), shown._repr_html_())
    assert verdict()._repr_mimebundle_().keys() == {"text/plain", "text/html"}


def test_the_repr_is_the_text_since_a_console_shows_it():
    assert repr(verdict()) == str(verdict())


def test_an_error_map_marks_the_wrong_elements_of_the_first_wrong_plane():
    expected = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    found = expected.copy()
    found[1, 0, 2, 3:] += 1
    found[1, 2] += 1
    view = error_map(Elements(found, expected, found != expected))
    planes, plane = view.panels
    assert view.alt == "Wrong elements: 22 of 120, in 2 of 6 planes; in the plane y[n=1, k=0]: 2 of 20."
    assert (planes.rows, planes.cols, planes.values) == (2, 3, ["0", "0", "0", "2", "0", "20"])
    assert planes.labels[3] == "y[n=1, k=0]: 2 of 20 wrong"
    assert (plane.rows, plane.cols, plane.title) == (4, 5, "y[n=1, k=0]")
    assert [i for i, value in enumerate(plane.values) if value == "×"] == [13, 14]
    assert plane.kinds[13] != plane.kinds[12]
    assert plane.labels[0].endswith("right")
    assert plane.labels[13].startswith("y[n=1, k=0, p=2, q=3] = ")
    assert plane.labels[13].endswith("was expected")
    assert view.linked(3) == [6 + 13, 6 + 14]  # the plane y[n=1, k=0] with its wrong elements


def test_a_wrong_tensor_shows_a_map_and_a_wrong_number_does_not(answers):
    assert "<svg" in check("01-loops", lambda *given: -answers["01-loops"](*given))._repr_html_()
    assert "<svg" not in check("01-one-output", lambda *given: 0.5)._repr_html_()
