from __future__ import annotations

import struct

import matplotlib.pyplot as plt
import pytest

from convlab.views.figure import figure


def test_a_figure_becomes_an_image_with_words_and_is_closed() -> None:
    drawn, axes = plt.subplots(figsize=(3, 2))
    axes.plot([1, 2], [3, 5])
    number = drawn.number
    picture = figure(drawn, alt='A line that rises from 3 to 5, "steeply".')
    assert picture.png.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture.png[16:24]) == (picture.width, picture.height)
    assert 'alt="A line that rises from 3 to 5, &quot;steeply&quot;."' in picture._repr_html_()
    assert repr(picture) == picture.alt
    assert not plt.fignum_exists(number)


def test_room_that_nothing_is_drawn_in_is_cut_off() -> None:
    drawn, axes = plt.subplots(figsize=(4, 3))
    axes.imshow([[1, 2, 3, 4]])
    axes.set_title("four")
    picture = figure(drawn, alt="Four pixels beside each other.")
    assert picture.width > 200 > picture.height


def test_words_are_required() -> None:
    with pytest.raises(ValueError, match="A picture without words helps only those who see it"):
        figure(plt.figure(), alt=" ")
