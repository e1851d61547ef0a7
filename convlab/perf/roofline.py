"""The roofline: how fast methods are, against what a GPU's arithmetic and one level of its memory allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.gpus import recognise
from convlab.perf.picture import Picture
from convlab.perf.points import LEVELS, Point
from convlab.perf.roofline_figure import draw

__all__ = ["Roofline", "roofline"]


class Roofline(Picture):
    """A drawn roofline, and what it shows in full sentences."""

    __slots__ = ()


def roofline(
    points: Sequence[Point] = (), gpu: str = "A100", dtypes: Sequence[str] = (), level: str = "dram", title: str = ""
) -> Roofline:
    """Draw methods under a GPU's roof: hollow where compulsory bytes would put them, filled where executed ones do.

    >>> from convlab.perf.times import Time
    >>> naive = Point(name="naive", dtype="float32", flop=4_718_592, executed_flop=4_718_592, compulsory=140_288,
    ...               level="l2", executed=1_200_000, time=Time(0.01, "modelled", on="A100"))
    >>> roofline([naive], level="l2")
    Roofline of the A100: bytes of L2, modelled, at 7,219 GB/s; float32 at most 19,492 GFLOP/s, from 2.7 FLOP per byte
    on.
    naive: 471.9 GFLOP/s by a time of 0.01 ms, modelled for A100; 33.6 FLOP per compulsory byte, 3.93 FLOP per byte of
    L2, modelled; the roof there is 19,492 GFLOP/s.

    Args:
        points: the methods, none for the roof alone; `convlab.perf.profile` makes them.
        gpu: whose roof, a name of `convlab.perf.gpus.GPUS`.
        dtypes: the arithmetic that gets a roof; those of the points, or float32, when empty.
        level: one of `LEVELS`: what a byte of the axis is, and which bandwidth is the roof.
        title: what stands before the level in the title, such as the layer.

    A point without a time is drawn where it could be at most, and marked so.

    Raises:
        ValueError: something else than points, bytes of another level than the figure's, a time of another GPU, an
            unknown level, one whose bandwidth is not published, a type that the GPU has no peak for, a point without
            work or bytes.

    Source: Williams, Waterman and Patterson, Roofline: an insightful visual performance model (2009); levels as in
    Yang, Kurth and Williams, Hierarchical Roofline analysis for GPUs (2020).
    """
    if not isinstance(points, Sequence) or not all(isinstance(point, Point) for point in points):
        raise ValueError(
            f"points, of type {type(points).__name__}, is no list of points.\n"
            "  Fix: draw methods with cl.profile(spec, method=['naive', 'tiled']).plot()."
        )
    record = find_gpu(gpu)
    _check_level(level, record)
    for point in points:
        _check_point(point, record, level)
    types = list(dict.fromkeys([*dtypes, *(point.dtype for point in points)])) or ["float32"]
    roofs = {dtype: record.peak_tflops(dtype) * 1e3 for dtype in types}
    heading = f"{title}: roofline of the {record.name}" if title else f"Roofline of the {record.name}"
    return Roofline(draw(points, record, roofs, LEVELS[level], heading), _alt(points, record, roofs, level, heading))


def _check_level(level: str, gpu: Gpu) -> None:
    if level not in LEVELS:
        raise ValueError(f"There is no level {level!r}. The levels are: {', '.join(LEVELS)}.")
    if LEVELS[level].bandwidth(gpu) is None:
        raise ValueError(
            f"Nobody published the bandwidth of the {gpu.name}'s {LEVELS[level].memory}, so there is no roof.\n"
            "  Fix: draw the level 'dram', or take the A100."
        )


def _check_point(point: Point, gpu: Gpu, level: str) -> None:
    if point.level != level:
        raise ValueError(
            f"The bytes of {point.name!r} are those {LEVELS[point.level].of}, and the roof is the bandwidth "
            f"of {LEVELS[level].memory}, with bytes {LEVELS[level].known}: no point of one belongs under the other.\n"
            f"  Fix: draw level={point.level!r}, or count the bytes of level={level!r}."
        )
    if min(point.flop, point.compulsory, point.executed) < 1:
        raise ValueError(
            f"{point.name!r} has {point.flop} FLOP, {point.compulsory} compulsory and {point.executed} executed bytes, "
            "and a roofline shows FLOP per byte.\n  Fix: compare the times of methods without arithmetic."
        )
    if point.time is not None and recognise(point.time.on) != gpu:
        raise ValueError(
            f"The time of {point.name!r} is {point.time}, and the roof is that of the {gpu.name}.\n"
            "  Fix: draw the roof of the GPU that the time belongs to, or leave the time out."
        )


def _alt(points: Sequence[Point], gpu: Gpu, roofs: Mapping[str, float], level: str, heading: str) -> str:
    """The whole figure in words."""
    chosen = LEVELS[level]
    bandwidth = chosen.bandwidth(gpu)
    assert bandwidth is not None
    peaks = "; ".join(
        f"{dtype} at most {peak:,.0f} GFLOP/s, from {peak / bandwidth:.1f} FLOP per byte on"
        for dtype, peak in roofs.items()
    )
    lines = [f"{heading}: bytes {chosen.of}, at {bandwidth:,.0f} GB/s; {peaks}."]
    return "\n".join([*lines, *(_sentence(point, gpu) for point in points)])


def _sentence(point: Point, gpu: Gpu) -> str:
    """One point in words."""
    bytes_ = f"{point.compulsory_intensity:.3g} FLOP per compulsory byte"
    if point.level != "compulsory":
        bytes_ += f", {point.intensity:.3g} FLOP per byte {LEVELS[point.level].of}"
    if point.executed_flop < 0.95 * point.flop:
        bytes_ += f"; it executes {point.flop / max(1, point.executed_flop):.1f} times fewer FLOP than the definition"
    roof = point.bound(gpu, point.intensity)
    if point.time is None:
        return f"{point.name}: no time is known; {bytes_}; at most {roof:,.0f} GFLOP/s there, a bound."
    speed = f"{point.gflops:,.1f} GFLOP/s by a time of {replace(point.time, note='')}"
    return f"{point.name}: {speed}; {bytes_}; the roof there is {roof:,.0f} GFLOP/s."
