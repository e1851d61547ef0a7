"""What a GPU is, on one linked picture: who computes, and which memory is shared by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from convlab.perf.gpus import Gpu, Waits
from convlab.perf.gpus import gpu as find
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["gpu"]

_LANES_IN_A_ROW = 16
_CAPTION = (
    "Blue computes, orange remembers. Each line enlarges the first cell of the line above it, and has on its right "
    "the memory that belongs to it. One orange cell is one memory: all SMs share one DRAM, while each lane has "
    "registers of its own. The further up, the more threads share a memory, and the longer each of them waits for it."
)


def gpu(name: str = "A100") -> View:
    """Show a GPU's SMs, warps and lanes, each beside the memory that belongs to it: point at one to see who shares it.

    >>> [(panel.name, panel.rows * panel.cols) for panel in gpu("A100").panels]
    [('SMs', 108), ('L2', 1), ('DRAM', 1), ('warps', 64), ('L1', 1), ('lanes', 32), ('registers', 32)]

    Parameters: ``name`` is that of a record of ``perf.gpus.GPUS``. Sizes are published, waits approximate.

    Raises ``ValueError`` when there is no such GPU.
    """
    record = find(name)
    panels = [*_whole(record), *_first_sm(record), *_first_warp(record)]
    ids = cell_ids(panels)
    alt = (
        f"{record.model}, three lines that enlarge each other. First: {record.sms} SMs, which share {record.l2_mb} MB "
        f"of L2 cache and {record.dram_gb} GB of DRAM. Second: one SM with {record.warps_per_sm} warps, which share "
        f"{record.l1_kb} KB of shared memory and L1 cache. Third: one warp with {record.threads_per_warp} lanes, each "
        "with registers of its own."
    )
    return View(
        title=f"What a GPU is: the {record.model}",
        alt=alt,
        panels=panels,
        links=_links(ids),
        captions=[_CAPTION, *_sources(record)],
        frames=_tour(record, ids),
    )


def _sources(record: Gpu) -> list[str]:
    waits = f" Waits, in clock cycles, measured on idle memory: {record.waits.source}." if record.waits else ""
    return [f"Sizes: {record.source}.{waits}"]


def _whole(record: Gpu) -> list[Panel]:
    rows, cols = _oblong(record.sms)
    return [
        Panel(
            name="SMs",
            title=f"GPU: {record.sms} SMs",
            subtitle="streaming multiprocessors: processors that work on their own",
            rows=rows,
            cols=cols,
            labels=[
                f"SM {i}: a processor that holds up to {record.warps_per_sm} warps at a time, "
                f"with registers and shared memory of its own"
                for i in range(record.sms)
            ],
            kinds="input",
        ),
        _memory(
            "L2",
            f"L2 cache: {record.l2_mb} MB",
            f"wait: {_cycles(record.waits, 'l2')}",
            f"L2 cache: {record.l2_mb} MB on the chip, shared by all {record.sms} SMs. "
            "It keeps what was read from DRAM lately",
        ),
        _memory(
            "DRAM",
            f"DRAM: {record.dram_gb} GB",
            f"wait: {_cycles(record.waits, 'dram')}",
            f"DRAM: the GPU's main memory, {record.dram_gb} GB, shared by all {record.sms} SMs. Your arrays lie here. "
            f"It delivers {record.dram_gbs:,} GB a second at most",
        ),
    ]


def _first_sm(record: Gpu) -> list[Panel]:
    schedulers, lanes = record.schedulers_per_sm, record.threads_per_warp
    each = record.warps_per_sm // schedulers
    return [
        Panel(
            name="warps",
            title=f"One SM: {record.warps_per_sm} warps",
            subtitle=f"a row for each of its {schedulers} schedulers",
            rows=schedulers,
            cols=each,
            labels=[
                f"Warp {warp} of scheduler {scheduler}: {lanes} threads that take every step together"
                for scheduler in range(schedulers)
                for warp in range(each)
            ],
            kinds="input",
            line=1,
        ),
        _memory(
            "L1",
            f"Shared memory and L1 cache: {record.l1_kb} KB",
            f"wait: {_cycles(record.waits, 'l1')}",
            f"Shared memory and L1 cache of this SM: {record.l1_kb} KB. Up to {record.shared_kb} KB are shared memory, "
            "where the threads of a block leave data for each other; other SMs cannot see it",
            line=1,
        ),
    ]


def _first_warp(record: Gpu) -> list[Panel]:
    lanes, most = record.threads_per_warp, record.registers_per_sm // record.threads_per_sm
    rows = lanes // _LANES_IN_A_ROW
    return [
        Panel(
            name="lanes",
            title=f"One warp: {lanes} lanes",
            subtitle="a lane is one thread of the warp",
            rows=rows,
            cols=_LANES_IN_A_ROW,
            labels=[f"Lane {i}: one thread. All {lanes} lanes execute the same instruction" for i in range(lanes)],
            kinds="input",
            line=2,
        ),
        Panel(
            name="registers",
            title="Registers: each lane its own",
            subtitle=f"no wait; {record.register_kb:.0f} KB in each SM, for all its warps",
            rows=rows,
            cols=_LANES_IN_A_ROW,
            labels=[
                f"The registers of lane {i}: {most} numbers of 4 bytes when the SM is full of threads, at most 255. "
                "No other thread sees them"
                for i in range(lanes)
            ],
            kinds="filter",
            line=2,
        ),
    ]


def _memory(name: str, title: str, subtitle: str, label: str, line: int = 0) -> Panel:
    return Panel(name=name, title=title, subtitle=subtitle, rows=1, cols=1, labels=[label], kinds="filter", line=line)


def _cycles(waits: Waits | None, level: str) -> str:
    if waits is None:
        return "not published"
    least, most = (float(f"{cycles:.2g}") for cycles in getattr(waits, level))
    return f"about {least:.0f} cycles" if least == most else f"about {least:.0f} to {most:.0f} cycles"


def _oblong(count: int) -> tuple[int, int]:
    """Choose rows and columns for a grid that has no empty place and is about three times as wide as high."""
    shapes = [(rows, count // rows) for rows in range(1, count + 1) if count % rows == 0]
    return min(shapes, key=lambda shape: abs(np.log(shape[1] / shape[0] / 3)))


def _links(ids: Mapping[str, Ids]) -> Ids:
    """Link each memory with exactly those who share it, and each lane and warp with what it belongs to."""
    sm, warp, lanes = ids["SMs"][0, 0], ids["warps"][0, 0], ids["lanes"].ravel()
    return join(
        *(pairs(ids["SMs"].ravel(), ids[memory]) for memory in ("L2", "DRAM")),
        pairs(ids["warps"].ravel(), sm),
        pairs(ids["warps"].ravel(), ids["L1"]),
        pairs(sm, ids["L1"]),
        pairs(lanes, warp),
        pairs(lanes, sm),
        pairs(lanes, ids["registers"].ravel()),
    )


def _tour(record: Gpu, ids: Mapping[str, Ids]) -> Sequence[Frame]:
    cells = {name: numbers.ravel().tolist() for name, numbers in ids.items()}
    lanes = record.threads_per_warp
    return [
        Frame(
            "from top to bottom: one SM of the GPU, one warp of that SM, one lane of that warp, and its registers.",
            lit=[cells[name][0] for name in ("SMs", "warps", "lanes", "registers")],
        ),
        Frame(f"a GPU is {record.sms} processors, its SMs. They work independently of each other.", lit=cells["SMs"]),
        Frame(
            f"each SM keeps up to {record.warps_per_sm} warps ready. In each cycle, each of its "
            f"{record.schedulers_per_sm} schedulers picks one that need not wait.",
            lit=[cells["SMs"][0], *cells["warps"]],
        ),
        Frame(
            f"a warp is {lanes} threads in step: one instruction, {lanes} lanes, {lanes} results.",
            lit=[cells["warps"][0], *cells["lanes"]],
        ),
        Frame(
            "registers belong to one lane alone, and reading them costs no wait.",
            here=cells["registers"][5],
            lit=[cells["lanes"][5]],
        ),
        Frame(
            "shared memory and L1 belong to one SM: all its warps use them, no other SM does.",
            here=cells["L1"][0],
            lit=[cells["SMs"][0], *cells["warps"]],
        ),
        Frame("L2 belongs to all SMs.", here=cells["L2"][0], lit=cells["SMs"]),
        Frame(
            "so does DRAM: the largest memory, and the slowest. Most of this course is about not going there.",
            here=cells["DRAM"][0],
            lit=cells["SMs"],
        ),
    ]
