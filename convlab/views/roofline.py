"""The roofline of a layer before anything runs: what a GPU allows at the bytes that nobody can save."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from convlab.perf.gpus import Gpu
from convlab.perf.gpus import gpu as find
from convlab.spec import ConvSpec
from convlab.views.figure import Picture
from convlab.views.plot import HUES, INK, QUIET, Plot, calm

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["ARITHMETIC", "roofline"]

# Types that are multiplied, and the types that their numbers are stored in.
ARITHMETIC = {"float32": "float32", "tf32": "float32", "float16": "float16", "bfloat16": "bfloat16"}
_X, _Y = (0.1, 10_000), (10, 4_000_000)  # FLOP per byte, GFLOP/s: all GPUs of the table, and all layers of nets


def roofline(spec: ConvSpec, gpu: str = "A100", dtype: str = "float32") -> Picture:
    """Plot a layer under a GPU's roof, by its compulsory bytes, and by those of im2col, which stores its matrix.

    >>> roofline(ConvSpec(n=16, c=64, h=56, w=56, k=64, r=3, s=3, padding=1))
    A100, float32, bytes of DRAM at 1,555 GB/s: at most 19,492 GFLOP/s, from 12.5 FLOP per byte on. With compulsory
    bytes: 143 FLOP per byte, at most 19,492 GFLOP/s: bound by arithmetic, at least 0.19 ms. With im2col's matrix
    written and read: 14.4 FLOP per byte, at most 19,492 GFLOP/s: bound by arithmetic, at least 0.19 ms.

    Parameters: ``gpu`` is a name of ``perf.gpus.GPUS``; ``dtype`` is the arithmetic, "float32", "tf32", "float16" or
    "bfloat16". Both points are bounds by bytes of DRAM, and nothing is run; ``cl.profile(…).plot()`` draws kernels.

    Raises ``ValueError`` for an unknown GPU, and for arithmetic that it has no peak for. Source: Williams, Waterman and
    Patterson, Roofline: an insightful visual performance model (2009).
    """
    record, figure = find(gpu), _figure()
    peak, ridge = 1e3 * record.peak_tflops(dtype), record.ridge(dtype)
    figure.roof.set_data([_X[0], ridge, _X[1]], [_X[0] * record.dram_gbs, peak, peak])
    figure.ridge.set_data([ridge], [peak])
    roof = f"at most {peak:,.0f} GFLOP/s, from {ridge:.1f} FLOP per byte on"
    figure.title.set_text(f"{gpu}, {dtype}: {roof}")
    sentences = [f"{gpu}, {dtype}, bytes of DRAM at {record.dram_gbs:,.0f} GB/s: {roof}."]
    for dot, (words, intensity) in zip(figure.dots, _intensities(spec, ARITHMETIC[dtype]).items(), strict=True):
        bound = min(peak, intensity * record.dram_gbs)
        dot.set_data([intensity, intensity], [_Y[0], bound])
        sentences.append(_sentence(spec, record, words, intensity, bound))
    return figure.plot.picture(" ".join(sentences))


def _intensities(spec: ConvSpec, storage: str) -> dict[str, float]:
    """FLOP per byte of DRAM, by what is counted as bytes."""
    rows, columns = spec.im2col_shape
    compulsory = spec.traffic(storage).total
    matrix = spec.groups * rows * columns * (4 if storage == "float32" else 2)
    return {
        "compulsory bytes": spec.flops / compulsory,
        "im2col's matrix written and read": spec.flops / (compulsory + 2 * matrix),
    }


def _sentence(spec: ConvSpec, gpu: Gpu, words: str, intensity: float, bound: float) -> str:
    limit = "the bandwidth of DRAM" if intensity * gpu.dram_gbs <= bound else "arithmetic"
    milliseconds = spec.flops / bound / 1e6
    speed = f"at most {bound:,.0f} GFLOP/s: bound by {limit}, at least {milliseconds:.3g} ms"
    return f"With {words}: {intensity:.3g} FLOP per byte, {speed}."


class _Roofline:
    """The figure, drawn once: the axes, and a roof, two points and the title that move."""

    def __init__(self) -> None:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter

        figure = Figure(figsize=(8, 4.2), facecolor="#ffffff")
        axes = figure.add_axes((0.12, 0.13, 0.85, 0.76), xscale="log", yscale="log", xlim=_X, ylim=_Y)
        axes.set(xlabel="FLOP per byte of DRAM", ylabel="GFLOP/s")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1 else f"{value:,.0f}"))
        calm(axes)
        self.title = figure.text(0.12, 0.93, "", fontsize=11, color=INK, weight="bold")
        self.roof: Line2D = axes.plot([], [], color=INK, linewidth=1.8)[0]
        self.ridge: Line2D = axes.plot([], [], marker=".", markersize=10, color=INK, linestyle="none")[0]
        looks: tuple[dict[str, Any], ...] = (
            {"marker": "o", "color": HUES[0], "label": "compulsory bytes: no method does better"},
            {
                "marker": "s",
                "color": HUES[1],
                "linestyle": "--",
                "label": "im2col: its matrix is written and read, too",
            },
        )
        self.dots: list[Line2D] = [
            axes.plot([], [], markersize=9, markevery=[1], linewidth=1, **look)[0] for look in looks
        ]
        axes.legend(loc="upper left", frameon=False, fontsize=9, labelcolor=QUIET)
        self.plot = Plot(figure, [self.roof, self.ridge, *self.dots, self.title])


_figure = cache(_Roofline)  # one for all pictures: each sets everything that moves
