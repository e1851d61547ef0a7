"""Occupancy, and what keeps it down: how it falls with registers, threads and shared memory of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from convlab.perf.gpus import gpu as find
from convlab.perf.occupancy import CAPABILITIES, Occupancy
from convlab.perf.occupancy import occupancy as compute
from convlab.views.figure import Picture
from convlab.views.plot import HUES, INK, QUIET, Plot, calm

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

__all__ = ["occupancy"]

# What stands along each of the three axes, and how far it reaches.
_AXES = {
    "registers": ("registers of a thread", range(1, 256)),
    "threads": ("threads of a block", range(32, 1025, 32)),
    "shared_kb": ("KB of shared memory of a block", range(228)),
}


def occupancy(gpu: str = "A100", threads: int = 256, registers: int = 40, shared_kb: int = 0) -> Picture:
    """Plot the occupancy of a kernel against each of the three things that limit it, the others being as given.

    >>> occupancy("A100", threads=256, registers=40)
    A100: 6 blocks, 48 of 64 warps on an SM, an occupancy of 75 %, limited by registers. The kernel has 40 registers of
    a thread, 256 threads of a block, 0 KB of shared memory of a block.

    Parameters: ``gpu`` is a name of ``perf.gpus.GPUS``; ``threads`` of a block, 1 to 1024; ``registers`` of a thread, 0
    to 255; ``shared_kb`` of a block. Raises ``ValueError`` for an unknown GPU, and for numbers that no kernel has.
    Source: NVIDIA, cuda_occupancy.h of CUDA 13.
    """
    arch, values = find(gpu).arch, {"registers": registers, "threads": threads, "shared_kb": shared_kb}
    found = _occupancy(arch, values)
    figure = _figure()
    for name, line, dot in zip(_AXES, figure.lines, figure.dots, strict=True):
        line.set_data(*_curve(arch, name, values))
        dot.set_data([values[name]], [100 * found.share])
    figure.title.set_text(f"{gpu}: {_short(found)}")
    kernel = ", ".join(f"{values[name]} {words}" for name, (words, _) in _AXES.items())
    return figure.plot.picture(f"{gpu}: {_sentence(found)}. The kernel has {kernel}.")


def _occupancy(arch: str, values: Mapping[str, int]) -> Occupancy:
    return compute(arch, values["threads"], values["registers"], values["shared_kb"] << 10)


def _curve(arch: str, name: str, values: Mapping[str, int]) -> tuple[Sequence[int], list[float]]:
    """Occupancy in percent along one axis, as far as a block may have so much."""
    xs = [x for x in _AXES[name][1] if name != "shared_kb" or x << 10 <= CAPABILITIES[arch].shared_block]
    return xs, [100 * _occupancy(arch, {**values, name: x}).share for x in xs]


def _short(found: Occupancy) -> str:
    if not found.blocks:
        return f"no block fits, because of its {found.limited_by}"
    return f"{found.warps} of {found.of} warps, limited by {found.limited_by}"


def _sentence(found: Occupancy) -> str:
    if not found.blocks:
        return _short(found)
    blocks = f"{found.blocks} block{'s' * (found.blocks != 1)}"
    share = f"an occupancy of {100 * found.share:.0f} %"
    return f"{blocks}, {found.warps} of {found.of} warps on an SM, {share}, limited by {found.limited_by}"


class _Occupancy:
    """The figure, drawn once: three axes, and a line, a dot and the title that move."""

    def __init__(self) -> None:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(10, 3.4), facecolor="#ffffff")
        plots = figure.subplots(1, 3, sharey=True)
        for axes, (words, reach) in zip(plots, _AXES.values(), strict=True):
            axes.set(xlim=(0, reach[-1] + 1), ylim=(0, 106), xlabel=words)
            calm(axes)
        plots[0].set_ylabel("occupancy, %")
        figure.subplots_adjust(left=0.065, right=0.985, top=0.86, bottom=0.16, wspace=0.08)
        self.title = figure.text(0.065, 0.93, "", fontsize=11, color=INK, weight="bold")
        self.lines: list[Line2D] = [axes.plot([], [], color=HUES[0], linewidth=1.8)[0] for axes in plots]
        look = {"marker": "o", "markersize": 9, "color": HUES[1], "markeredgecolor": INK, "linestyle": "none"}
        self.dots: list[Line2D] = [axes.plot([], [], **look)[0] for axes in plots]
        note = {"xycoords": "axes fraction", "ha": "right", "color": QUIET, "fontsize": 9}
        plots[2].annotate("the dot is this kernel", (0.97, 0.93), **note)
        self.plot = Plot(figure, [*self.lines, *self.dots, self.title])


_figure = cache(_Occupancy)  # one for all pictures: each sets everything that moves
