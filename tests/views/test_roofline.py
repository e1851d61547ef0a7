"""The roofline of a layer: its points by hand, its bounds, and its words."""

from __future__ import annotations

import pytest

from convlab.spec import ConvSpec
from convlab.views.roofline import _figure, roofline

SPEC = ConvSpec(n=3, c=8, h=20, w=30, k=12, r=3, s=5, padding=(1, 1, 2, 2), groups=2)


@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("tf32", 4), ("float16", 2)])
def test_the_points_are_where_the_definition_puts_them(dtype: str, size: int) -> None:
    picture = roofline(SPEC, "A100", dtype)
    flop = 2 * (3 * 12 * 20 * 30) * (4 * 3 * 5)
    compulsory = size * (3 * 8 * 20 * 30 + 12 * 4 * 3 * 5 + 3 * 12 * 20 * 30)
    matrix = size * 8 * 3 * 5 * 3 * 20 * 30
    (x, _), (column, _) = (dot.get_xdata() for dot in _figure().dots)
    assert x == pytest.approx(flop / compulsory)
    assert column == pytest.approx(flop / (compulsory + 2 * matrix))
    ys = [dot.get_ydata()[1] for dot in _figure().dots]
    peaks = {"float32": 108 * 64 * 2 * 1.41, "tf32": 155_900, "float16": 311_900}
    assert ys == pytest.approx([min(peaks[dtype], 1555 * at) for at in (x, column)], rel=1e-3)
    assert f"{flop / compulsory:.3g} FLOP per byte" in picture.alt


def test_what_bounds_it_is_said() -> None:
    deep = ConvSpec(n=16, c=256, h=28, w=28, k=256, r=3, s=3, padding=1)
    assert roofline(deep).alt.count("bound by arithmetic") == 2
    thin = ConvSpec(n=16, c=32, h=56, w=56, k=32, r=3, s=3, padding=1, groups=32)
    assert roofline(thin).alt.count("bound by the bandwidth of DRAM") == 2
    assert "at least" in roofline(thin).alt


def test_arithmetic_that_a_gpu_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="The T4 has no peak for 'tf32'"):
        roofline(SPEC, "T4", "tf32")
