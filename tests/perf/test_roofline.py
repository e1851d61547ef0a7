"""The roofline: numbers by hand, words for everything drawn, and refusals of points that do not belong."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from convlab.perf.gpus import GPUS, gpu
from convlab.perf.points import LEVELS, Point
from convlab.perf.roofline import Roofline, roofline
from convlab.perf.roofline_figure import _HUES, _SHAPES
from convlab.perf.times import Time
from convlab.spec import ConvSpec

# 6 MFLOP in 2 µs on an A100: 3,000 GFLOP/s; 60 FLOP per compulsory byte, 4 per byte moved.
POINT = Point(
    name="tiled",
    dtype="float32",
    flop=6_000_000,
    executed_flop=6_000_000,
    compulsory=100_000,
    executed=1_500_000,
    level="dram",
    time=Time(0.002, "modelled", on="A100"),
)


def texts(drawn: Roofline) -> str:
    return "\n".join(found.get_text() for found in drawn.figure.findobj(Text))


def markers(drawn: Roofline) -> list[Any]:
    """The single points of the figure, but for the ridges."""
    lines = drawn.figure.axes[0].get_lines()
    return [line for line in lines if len(line.get_xdata()) == 1 and line.get_marker() != "."]


def test_a_point_by_hand() -> None:
    a100 = gpu("A100")
    assert (POINT.gflops, POINT.intensity, POINT.compulsory_intensity) == (3000, 4, 60)
    assert POINT.bound(a100, 4) == pytest.approx(4 * 1555)
    assert POINT.bound(a100, 60) == pytest.approx(108 * 64 * 2 * 1.41)
    fewer = replace(POINT, executed_flop=4_000_000)
    assert fewer.bound(a100, 60) == pytest.approx(1.5 * 108 * 64 * 2 * 1.41)
    assert replace(POINT, time=None).gflops is None


@pytest.mark.parametrize(
    ("level", "of", "bandwidth"),
    [
        ("compulsory", "of DRAM, compulsory", 1555),
        ("dram", "of DRAM, modelled", 1555),
        ("dram_measured", "of DRAM, measured", 1555),
        ("l2", "of L2, modelled", 5120 * 1.41),
        ("l1", "at the L1, counted", 108 * 128 * 1.41),
    ],
)
def test_the_level_is_named_on_the_axis_in_the_title_and_in_words(level: str, of: str, bandwidth: float) -> None:
    drawn = roofline([replace(POINT, level=level)], level=level, title="A layer")
    axes = drawn.figure.axes[0]
    assert axes.get_xlabel() == f"FLOP per byte {of}"
    assert axes.get_title(loc="left") == f"A layer: roofline of the A100\nbytes {of}"
    assert f"bytes {of}, at {bandwidth:,.0f} GB/s" in drawn.alt
    assert f"{LEVELS[level].memory}: {bandwidth:,.0f} GB/s" in texts(drawn)
    assert f"filled: bytes {of}" in texts(drawn)
    assert ("hollow: compulsory bytes" in texts(drawn)) == (level != "compulsory")


@pytest.mark.parametrize(("counted", "drawn"), [*itertools.permutations(LEVELS, 2)])
def test_bytes_of_one_level_are_never_drawn_against_another(counted: str, drawn: str) -> None:
    with pytest.raises(ValueError, match="no point of one belongs under the other") as error:
        roofline([replace(POINT, level=counted)], level=drawn)
    assert f"The bytes of 'tiled' are those {LEVELS[counted].of}" in str(error.value)
    assert f"Fix: draw level={counted!r}" in str(error.value)


def test_compulsory_is_hollow_executed_is_filled_and_a_line_joins_them() -> None:
    drawn = roofline([replace(POINT, time=Time(0.002, "measured", on="NVIDIA A100-SXM4-40GB"))])
    hollow, filled = markers(drawn)
    assert (hollow.get_xdata()[0], hollow.get_ydata()[0]) == pytest.approx((60, 3000))
    assert (filled.get_xdata()[0], filled.get_ydata()[0]) == pytest.approx((4, 3000))
    assert (hollow.get_markerfacecolor(), filled.get_markerfacecolor()) == ("#ffffff", _HUES[0])
    assert filled.get_fillstyle() == "full"
    joins = [
        line for line in drawn.figure.axes[0].get_lines() if line.get_color() == _HUES[0] and len(line.get_xdata()) > 1
    ]
    assert [(line.get_xdata()[0], line.get_xdata()[-1]) for line in joins] == [pytest.approx((4, 60))]
    assert "hollow: compulsory bytes" in texts(drawn)
    assert "filled: bytes of DRAM, modelled" in texts(drawn)
    assert "half" not in texts(drawn)


def test_a_modelled_time_is_half_filled_and_says_so() -> None:
    drawn = roofline([POINT])
    assert markers(drawn)[1].get_fillstyle() == "bottom"
    assert "tiled\n0.002 ms, modelled" in texts(drawn)
    assert "half: the time is modelled" in texts(drawn)
    assert "3,000.0 GFLOP/s by a time of 0.002 ms, modelled for A100" in drawn.alt


def test_without_a_time_a_point_is_a_bound_on_the_roof() -> None:
    drawn = roofline([replace(POINT, time=None)])
    hollow, bound = markers(drawn)
    assert hollow.get_ydata()[0] == pytest.approx(19_491.84)
    assert (bound.get_xdata()[0], bound.get_ydata()[0]) == pytest.approx((4, 4 * 1555))
    assert bound.get_markerfacecolor() == "#ffffff"
    assert "tiled\nno time: a bound" in texts(drawn)
    assert "arrow: no time, at most so fast" in texts(drawn)
    assert "tiled: no time is known" in drawn.alt
    assert "at most 6,220 GFLOP/s there, a bound" in drawn.alt


def test_fewer_flop_than_the_definition_are_explained() -> None:
    assert "Winograd" not in texts(roofline([POINT]))
    drawn = roofline([replace(POINT, executed_flop=3_000_000)])
    assert "may rise above a roof" in texts(drawn)
    assert "it executes 2.0 times fewer FLOP than the definition" in drawn.alt


def test_ridges_are_labelled_by_type_and_types_that_share_a_peak_share_a_label() -> None:
    half = replace(POINT, name="mma", dtype="float16")
    drawn = roofline([POINT, half], dtypes=["bfloat16", "tf32"])
    assert "bfloat16, float16: 311,869 GFLOP/s, ridge 201" in texts(drawn)
    assert "tf32: 155,935 GFLOP/s, ridge 100" in texts(drawn)
    assert "float32: 19,492 GFLOP/s, ridge 12.5" in texts(drawn)
    assert "float32 at most 19,492 GFLOP/s, from 12.5 FLOP per byte on" in drawn.alt


def test_methods_differ_in_shape_as_well_as_in_colour() -> None:
    looks = [(_HUES[i % len(_HUES)], _SHAPES[i % len(_SHAPES)]) for i in range(42)]
    assert len(set(looks)) == 42
    drawn = roofline([replace(POINT, name=f"m{i}") for i in range(7)])
    assert len({mark.get_marker() for mark in markers(drawn)}) == 7


@pytest.mark.parametrize("name", GPUS)
def test_every_gpu_has_a_roof_alone(name: str) -> None:
    drawn = roofline(gpu=name)
    assert drawn.alt == repr(drawn)
    assert drawn.alt.count("\n") == 0
    assert f"Roofline of the {name}: bytes of DRAM, modelled" in drawn.alt


def test_all_that_is_drawn_lies_inside_and_no_text_is_cut_or_covers_another() -> None:
    points = [replace(POINT, name=f"method_{i}", executed=10 ** (3 + i // 2) * (1 + i), time=None) for i in range(10)]
    for dtypes, shown in itertools.product([[], ["float16", "tf32"]], [points, points[:1], []]):
        drawn = roofline(shown, dtypes=dtypes)
        axes = drawn.figure.axes[0]
        drawn.figure.draw_without_rendering()
        inside = axes.get_window_extent()
        for text in axes.texts:
            if text.get_text():
                box = text.get_window_extent()
                assert inside.x0 <= box.x0 < box.x1 <= inside.x1
                assert inside.y0 <= box.y0 < box.y1 <= inside.y1
        for mark in markers(drawn)[: 2 * len(shown)]:
            if len(mark.get_xdata()):
                assert inside.contains(*axes.transData.transform((mark.get_xdata()[0], mark.get_ydata()[0])))
        boxes = [legend.get_window_extent() for legend in drawn.figure.legends]
        assert all(not a.overlaps(b) for a, b in itertools.combinations([inside, *boxes], 2))


@pytest.mark.parametrize(
    ("changes", "how", "message"),
    [
        ({}, {"level": "l3"}, "There is no level 'l3'. The levels are: compulsory, dram, dram_measured, l2, l1."),
        (
            {},
            {"level": "l2", "gpu": "T4"},
            "Nobody published the bandwidth of the T4's L2, so there is no roof.\n"
            "  Fix: draw the level 'dram', or take the A100.",
        ),
        ({"flop": 0}, {}, "'tiled' has 0 FLOP, 100000 compulsory and 1500000 executed bytes"),
        ({"executed": 0}, {}, "Fix: compare the times of methods without arithmetic."),
        ({"dtype": "float8"}, {}, "The A100 has no peak for 'float8'."),
        ({}, {"gpu": "H100"}, "The time of 'tiled' is 0.002 ms, modelled for A100, and the roof is that of the H100."),
        ({"time": Time(9.0, "measured", on="this CPU")}, {}, "Fix: draw the roof of the GPU that the time belongs to"),
        ({"time": Time(9.0, "measured", on="NVIDIA L40")}, {"gpu": "L4"}, "is that of the L4"),
        ({}, {"gpu": "A10"}, "There is no GPU 'A10' in the table."),
    ],
)
def test_what_does_not_belong_is_refused(changes: dict[str, Any], how: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        roofline([replace(POINT, **changes)], **how)


@pytest.mark.parametrize("points", [None, 5, "tiled", [POINT, "tiled"], ConvSpec(n=1, c=3, h=8, w=7, k=4, r=3, s=2)])
def test_something_else_than_points_is_refused(points: Any) -> None:
    with pytest.raises(ValueError, match=f"^points, of type {type(points).__name__}, is no list of points") as error:
        roofline(points)
    assert "Fix: draw methods with cl.profile(spec, method=['naive', 'tiled']).plot()." in str(error.value)


def test_a_driver_says_the_name_of_a_gpu_at_more_length() -> None:
    timed = replace(POINT, time=Time(0.002, "measured", on="NVIDIA H200", note="at 1,980 MHz"))
    assert "0.002 ms, measured on NVIDIA H200; 60 FLOP" in roofline([timed], gpu="H200").alt


def test_a_picture_is_saved_by_its_name_and_shown_with_words(tmp_path: Path) -> None:
    drawn = roofline([POINT], title='Layers "A" & B')
    for form, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        drawn.save(tmp_path / f"roof.{form}")
        assert (tmp_path / f"roof.{form}").read_bytes().startswith(start)
    assert 'alt="Layers &quot;A&quot; &amp; B: roofline' in drawn._repr_html_()
    with pytest.raises(ValueError, match=r"'roof.txt' names no kind of picture.\n  Fix: end the name in .svg"):
        drawn.save("roof.txt")
