"""How a roofline is drawn: roofs, ridge points, and markers that differ in shape as well as in colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atan2, degrees, log10
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from convlab.perf.datasheet import Gpu
from convlab.perf.points import Level, Point
from convlab.perf.times import Time

__all__ = ["draw"]

# Hues of Okabe and Ito (2008), dark ones first. With one shape more than hues, no two of 42 methods look the same.
_HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
_SHAPES = ("o", "s", "^", "D", "v", "P", "X")
_INK, _QUIET, _PAPER = "#1c2733", "#5a6772", "#ffffff"
_DASHES = ("-", "--", "-.", ":")
_SIZE, _ROOM = (9.2, 5.4), 4.0  # inches; times that the axes reach beyond what is in them


def draw(points: Sequence[Point], gpu: Gpu, roofs: Mapping[str, float], level: Level, heading: str) -> Figure:
    """Draw points under the roofs (type → GFLOP/s) of a GPU, at one level of its memory."""
    bandwidth = level.bandwidth(gpu)
    assert bandwidth is not None
    height = max(_SIZE[1], 2 + 0.43 * len(points))  # two lines of legend for each
    figure = Figure(figsize=(_SIZE[0], height), facecolor=_PAPER)
    axes = figure.add_axes((0.1, 0.11, 0.55, 0.79))
    _scales(axes, points, gpu, roofs, bandwidth)
    _roofs(axes, roofs, bandwidth, level)
    handles = [_mark(axes, point, gpu, number) for number, point in enumerate(points)]
    axes.set_title(f"{heading}\nbytes {level.of}", fontsize=11, color=_INK, loc="left")
    axes.set_xlabel(f"FLOP per byte {level.of}", color=_INK)
    axes.set_ylabel("GFLOP/s", color=_INK)
    _legends(figure, handles, points, level)
    return figure


def _scales(axes: Axes, points: Sequence[Point], gpu: Gpu, roofs: Mapping[str, float], bandwidth: float) -> None:
    """Logarithmic axes with plain numbers, wide enough for all roofs and points."""
    ridges = [peak / bandwidth for peak in roofs.values()]
    x = [value for point in points for value in (point.intensity, point.compulsory_intensity)]
    y = [point.gflops or point.bound(gpu, point.intensity) for point in points]
    right = max([*x, *ridges]) * _ROOM
    first = min(ridges)
    # The first ridge at least in the middle, as labels are left of it; and a power of ten for the slope's own label.
    left = min(min([*x, first / 10]) / 10, first * first / right)
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    axes.set_ylim(min([*y, bandwidth * left * _ROOM]) / _ROOM, max([*y, *roofs.values()]) * _ROOM)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(numticks=12))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(which="major", color="#dfe4e8", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_QUIET, labelsize=9)
    for side in axes.spines.values():
        side.set_color("#b5bec6")


def _roofs(axes: Axes, roofs: Mapping[str, float], bandwidth: float, level: Level) -> None:
    """The slope of the bandwidth, and for each peak a horizontal from its ridge point on."""
    (left, right), top = axes.get_xlim(), max(roofs.values())
    axes.plot([left, top / bandwidth], [left * bandwidth, top], color=_INK, linewidth=1.6)
    for number, (peak, names) in enumerate(_by_peak(roofs).items()):
        ridge = peak / bandwidth
        axes.plot([ridge, right], [peak, peak], color=_INK, linewidth=1.6, linestyle=_DASHES[number % len(_DASHES)])
        axes.plot(ridge, peak, marker=".", markersize=9, color=_INK)
        text = f"{names}: {peak:,.0f} GFLOP/s, ridge {ridge:.3g}"
        axes.annotate(text, (ridge, peak), (-7, 1), textcoords="offset points", ha="right", fontsize=8.5, color=_INK)
    _along_slope(axes, f"{level.memory}: {bandwidth:,.0f} GB/s", bandwidth)


def _by_peak(roofs: Mapping[str, float]) -> dict[float, str]:
    """Types that share a peak share a label; the highest comes first."""
    names: dict[float, list[str]] = {}
    for dtype, peak in sorted(roofs.items(), key=lambda each: -each[1]):
        names.setdefault(peak, []).append(dtype)
    return {peak: ", ".join(each) for peak, each in names.items()}


def _along_slope(axes: Axes, text: str, bandwidth: float) -> None:
    """A label above the lower end of the slope, turned as the slope is."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    box = axes.get_window_extent()
    angle = degrees(atan2(box.height / log10(y1 / y0), box.width / log10(x1 / x0)))
    x = max(x0 * (x1 / x0) ** 0.03, y0 / bandwidth * (y1 / y0) ** 0.03)
    axes.annotate(
        text,
        (x, x * bandwidth),
        (-3, 5),
        textcoords="offset points",
        rotation=angle,
        rotation_mode="anchor",
        fontsize=8.5,
        color=_INK,
    )


def _mark(axes: Axes, point: Point, gpu: Gpu, number: int) -> Any:
    """A method: hollow at its compulsory bytes, filled at its executed ones; what the legend shows is given back."""
    hue, shape = _HUES[number % len(_HUES)], _SHAPES[number % len(_SHAPES)]
    x = np.geomspace(point.intensity, point.compulsory_intensity, 64)
    y = [point.gflops or point.bound(gpu, each) for each in x]
    axes.plot(x, y, color=hue, linewidth=1.1, zorder=3)
    hollow: dict[str, Any] = {"color": _PAPER, "markeredgecolor": hue, "markeredgewidth": 1.3}
    axes.plot(x[-1], y[-1], marker=shape, markersize=8, zorder=4, **hollow)
    style = hollow if point.time is None else _style(point.time, hue)
    axes.plot(x[0], y[0], marker=shape, markersize=8.5, linestyle="none", zorder=5, **style)
    if point.time is None:
        arrow = {"arrowstyle": "<|-", "color": hue, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 6}
        axes.annotate("", (x[0], y[0]), (0, -26), textcoords="offset points", arrowprops=arrow)
    (handle,) = axes.plot([], [], marker=shape, markersize=8.5, linestyle="none", label=_label(point), **style)
    return handle


def _style(time: Time, hue: str) -> dict[str, Any]:
    """Whole for a time that a clock gave, half for a modelled one."""
    half = {"fillstyle": "bottom", "markerfacecoloralt": _PAPER} if time.kind == "modelled" else {}
    return {"color": hue, "markeredgecolor": _INK, "markeredgewidth": 0.8, **half}


def _label(point: Point) -> str:
    if point.time is None:
        return f"{point.name}\nno time: a bound"
    return f"{point.name}\n{point.time.milliseconds:.4g} ms, {point.time.kind}"


def _legends(figure: Figure, handles: Sequence[Any], points: Sequence[Point], level: Level) -> None:
    """The methods with their times, and below them what the markers' fillings mean."""
    if not handles:
        return
    base = {"marker": "o", "linestyle": "none", "markersize": 7.5, "color": _QUIET, "markeredgecolor": _INK}
    keys = {text: Line2D([], [], label=text.format(level.of), **{**base, **look}) for text, look in _KEY.items()}
    wanted = zip(_KEY, (level.known != "compulsory", True, *_present(points)), strict=True)
    key = [keys[text] for text, shown in wanted if shown]
    look = {"frameon": False, "fontsize": 8.5, "labelcolor": _INK, "alignment": "left", "borderaxespad": 0}
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.665, 0.9), **look)
    figure.legend(handles=key, loc="lower left", bbox_to_anchor=(0.665, 0.11), **look)


# What the legend says → how its marker looks; what does not occur is left out.
_KEY: Mapping[str, Mapping[str, Any]] = {
    "hollow: compulsory bytes": {"color": _PAPER},
    "filled: bytes {}": {},
    "half: the time is modelled": {"fillstyle": "bottom", "markerfacecoloralt": _PAPER},
    "arrow: no time, at most so fast": {"marker": "$\\downarrow$"},
    "FLOP are the definition's: Winograd needs\nfewer, and may rise above a roof": {"marker": ""},
}


def _present(points: Sequence[Point]) -> tuple[bool, bool, bool]:
    """Whether there are modelled times, points without a time, and methods that multiply less than the definition."""
    return (
        any(point.time is not None and point.time.kind == "modelled" for point in points),
        any(point.time is None for point in points),
        any(point.executed_flop < 0.95 * point.flop for point in points),
    )
