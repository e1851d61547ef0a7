"""What travels between kernels: a convolution and what follows it as kernels of their own, and in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import ceil
from typing import NamedTuple

import numpy as np

from convlab.emulator.observers.requests import SECTOR
from convlab.kernels.ladder import method as find_method
from convlab.kernels.ops import OPS
from convlab.perf.trial import random_array
from convlab.perf.work import work_of_plan
from convlab.spec import BlockSpec, SeparableSpec
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View

__all__ = ["Crossing", "EpilogueView", "KernelTraffic", "epilogue", "traffic"]

_METHODS = {"block": ("block_separate", "fused_epilogue"), "separable": ("separable_two_kernels", "separable_fused")}
# What the kernels do, by the beginnings of their names.
_TASKS = {
    "conv_naive": "Convolution, bias",
    "scale_shift_relu": "Batch norm, ReLU",
    "max_pool": "2×2 pooling",
    "fused_epilogue": "All in one kernel",
    "conv_depthwise": "Depthwise",
    "conv_pointwise": "Pointwise",
    "separable": "Both in one kernel",
}


class Crossing(NamedTuple):
    """An array that a kernel reads or writes; bytes are the least for DRAM, and those that the L1 sees."""

    array: str
    verb: str
    kind: str
    least: int
    counted: int


class KernelTraffic(NamedTuple):
    """A kernel of a plan, and all that it reads and writes."""

    entry: str
    crossings: tuple[Crossing, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class EpilogueView(View):
    """The picture of the traffic; bytes of each method by its name: the least for DRAM, and those that the L1 sees."""

    least: Mapping[str, int]
    counted: Mapping[str, int]


def epilogue(spec: BlockSpec | SeparableSpec) -> EpilogueView:
    """Show what each kernel reads and writes, once with a kernel for each operation and once with all in one.

    >>> from convlab.spec import ConvSpec
    >>> view = epilogue(BlockSpec(ConvSpec(n=1, c=2, h=8, w=8, k=4, r=3, s=3, padding=1), pool=True))
    >>> view.least
    {'block_separate': 5200, 'fused_epilogue': 1104}

    Parameters: ``spec`` of a block (rungs block_separate and fused_epilogue) or of a separable convolution (rungs
    separable_two_kernels and separable_fused), in float32. Which arrays cross, and how many sectors of them, is counted
    from a run of these kernels on the emulator; large grids are sampled.

    Raises ``ValueError`` for sizes that a rung does not support.
    """
    names = _METHODS["block" if isinstance(spec, BlockSpec) else "separable"]
    kernels = {name: traffic(spec, name) for name in names}
    least, counted = ({name: _total(kernels[name], measure) for name in names} for measure in ("least", "counted"))
    separate, fused = kernels.values()
    most = max(each.least for kernel in (*separate, *fused) for each in kernel.crossings)
    panels = [
        *(_panel(kernel, f"{i + 1}. ", most, operator="→" * (i > 0)) for i, kernel in enumerate(separate)),
        *(_panel(kernel, "", most, line=1) for kernel in fused),
        _totals(least, counted),
    ]
    ids = cell_ids(panels)
    captions = _captions(kernels, least, counted)
    return EpilogueView(
        title=f"Traffic between kernels: {spec}",
        alt=_alt(kernels, captions),
        panels=panels,
        links=_links(kernels, ids),
        captions=captions,
        legend={
            "waste": "written and read again only because the kernels are separate",
            "input": "input",
            "filter": "weights and constants",
            "output": "output",
        },
        least=least,
        counted=counted,
    )


@lru_cache(maxsize=128)
def traffic(spec: BlockSpec | SeparableSpec, method: str) -> tuple[KernelTraffic, ...]:
    """Run the kernels of a method on random inputs, and count what each of them reads and writes.

    Raises ``ValueError`` for sizes that the method does not support.
    """
    record = find_method(method)
    if (reason := record.supports(spec)) is not None or record.plan is None:
        raise ValueError(f"{method} does not support this: {reason}\n  In: {spec!r}\n  Fix: choose other sizes.")
    op, plan, rng = OPS[record.op], record.plan(spec), np.random.default_rng(0)
    shapes = op.shapes_in(spec, record.layout)
    tensors = {name: random_array(shape, op.dtype(name, record), rng) for name, shape in shapes.items()}
    kernels = []
    for step, done in zip(plan.launches, work_of_plan(plan, tensors, record.dtype), strict=True):
        arrays = {parameter.name: each for parameter, each in zip(done.kernel.parameters, step.arguments, strict=True)}
        is_last = step is plan.launches[-1]
        crossings = [
            Crossing(name, verb, kind, min(done.sizes[parameter], counted), counted)
            for verb, counter in (("reads", "sectors_global_load"), ("writes", "sectors_global_store"))
            for parameter, name in arrays.items()
            if parameter in done.arrays and (counted := SECTOR * done.arrays[parameter][counter])
            for kind in [_kind(str(name), name in plan.scratch or (name == "y" and not (is_last and verb == "writes")))]
        ]
        kernels.append(KernelTraffic(done.entry, tuple(crossings)))
    return tuple(kernels)


def _kind(array: str, is_between: bool) -> str:
    return "waste" if is_between else {"x": "input", "y": "output"}.get(array, "filter")


def _total(kernels: Sequence[KernelTraffic], measure: str, *kinds: str) -> int:
    """Bytes of all crossings, or of those of some kinds."""
    found = (each for kernel in kernels for each in kernel.crossings)
    return sum(getattr(each, measure) for each in found if not kinds or each.kind in kinds)


def _task(entry: str) -> str:
    return next(words for start, words in _TASKS.items() if entry.startswith(start))


def _panel(kernel: KernelTraffic, prefix: str, most: int, operator: str = "", line: int = 0) -> Panel:
    values = [f"{each.verb} {each.array}: {each.least:,}" for each in kernel.crossings]
    return Panel(
        name=kernel.entry,
        title=f"{prefix}{_task(kernel.entry)}",
        subtitle=f"{kernel.entry}, bytes",
        rows=len(values),
        cols=1,
        labels=[
            f"{kernel.entry} {each.verb} {each.array}: at least {each.least:,} bytes of DRAM, "
            f"{each.counted:,} counted at the L1"
            for each in kernel.crossings
        ],
        values=values,
        kinds=[each.kind for each in kernel.crossings],
        bars=[each.least / most for each in kernel.crossings],
        cell_width=max(6, ceil((7.7 * max(map(len, values)) + 6) / 26)),
        operator=operator,
        line=line,
    )


def _totals(least: Mapping[str, int], counted: Mapping[str, int]) -> Panel:
    columns = {"DRAM, at least": least, "L1, counted": counted}
    cells = [(name, column, totals[name], max(totals.values())) for name in least for column, totals in columns.items()]
    return Panel(
        name="totals",
        title="Bytes moved, in all",
        rows=len(least),
        cols=len(columns),
        labels=[f"{name}: {column} {number:,} bytes" for name, column, number, _ in cells],
        values=[f"{number:,}" for _, _, number, _ in cells],
        kinds="register",
        bars=[number / most for _, _, number, most in cells],
        row_index=list(least),
        col_index=list(columns),
        cell_width=5,
        line=1,
    )


def _links(kernels: Mapping[str, Sequence[KernelTraffic]], ids: Mapping[str, Ids]) -> Ids:
    """An array wherever it crosses, and a total with all that it counts."""
    places: dict[tuple[str, bool], list[int]] = {}
    links = []
    for row, several in enumerate(kernels.values()):
        for kernel in several:
            links += [pairs(ids["totals"][row, :1], ids[kernel.entry].ravel())]
            for each, cell in zip(kernel.crossings, ids[kernel.entry].ravel().tolist(), strict=True):
                places.setdefault((each.array, each.kind == "waste"), []).append(cell)
    links += [np.array([*combinations(cells, 2)], dtype=np.intp) for cells in places.values() if len(cells) > 1]
    return join(*links)


def _captions(
    kernels: Mapping[str, Sequence[KernelTraffic]], least: Mapping[str, int], counted: Mapping[str, int]
) -> list[str]:
    (separate, fused), between = least.values(), _total(next(iter(kernels.values())), "least", "waste")
    at_l1 = list(counted.values())
    return [
        f"Fused, at least {fused:,} bytes cross between chip and DRAM instead of {separate:,}, {separate / fused:.1f} "
        f"times fewer: {between:,} are no longer written and read between kernels.",
        f"Counted at the L1, in sectors of 32 bytes, it is {at_l1[1]:,} instead of {at_l1[0]:,}, "
        f"{at_l1[0] / at_l1[1]:.2f} times fewer: a kernel reads the same input many times, and caches answer.",
        "At least: each array once a kernel, as far as its run touches it. Tensors this small may stay in the L2 "
        "cache between two kernels; those of a real batch do not.",
    ]


def _alt(kernels: Mapping[str, Sequence[KernelTraffic]], captions: Sequence[str]) -> str:
    def sentences() -> Iterator[str]:
        for name, several in kernels.items():
            for kernel in several:
                moved = ", ".join(f"{each.verb} {each.array} ({each.least:,} bytes)" for each in kernel.crossings)
                yield f"{name}: {kernel.entry} {moved}."

    return " ".join([*sentences(), *captions])
