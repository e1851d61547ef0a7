"""Figures under a slider: a picture shows what was set last, and nothing of what stood there before."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from convlab.views.plot import Plot


def pixels(png: bytes) -> np.ndarray:
    return (255 * imread(io.BytesIO(png))[..., :3]).astype(np.uint8)


def test_a_picture_shows_what_moved_and_keeps_what_stays() -> None:
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    axes.axhspan(0.9, 1, color="red")
    (line,) = axes.plot([], [], color="black", linewidth=6)
    plot = Plot(figure, [line])
    line.set_data([0.25, 0.25], [0, 0.8])
    first = pixels(plot.picture("left").png)
    line.set_data([0.75, 0.75], [0, 0.8])
    second = pixels(plot.picture("right").png)
    height, width = first.shape[:2]
    for shown, (dark, light) in ((first, (0.25, 0.75)), (second, (0.75, 0.25))):
        assert shown[height // 2, int(width * dark)].tolist() == [0, 0, 0]
        assert shown[height // 2, int(width * light)].tolist() == [255, 255, 255]
        assert shown[3, width // 2].tolist() == [255, 0, 0]


def test_the_picture_knows_its_size_and_its_words() -> None:
    picture = Plot(Figure(figsize=(4, 2)), []).picture("words & <signs>")
    assert pixels(picture.png).shape == (picture.height, picture.width, 3) == (180, 360, 3)
    assert 'aria-label="words &amp; &lt;signs&gt;"' in picture.live
    assert picture.still["text/plain"] == "words & <signs>"
    with pytest.raises(AttributeError):
        picture.alt = "other"  # type: ignore[misc]
