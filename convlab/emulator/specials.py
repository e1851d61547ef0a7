"""Special registers, ``%tid.x`` and the others: what each holds when a chunk starts.

Source: PTX ISA, "Special Registers".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from convlab.emulator.lanes import WARP, Residents, coordinates

__all__ = ["CLOCKS", "SPECIALS", "Dim3", "Launch", "Special"]

Dim3 = tuple[int, int, int]  # along x, y, z


@dataclass(frozen=True, slots=True)
class Launch:
    """The shape of a launch, and the shared memory of a block."""

    grid: Dim3
    block: Dim3
    shared_bytes: int
    dynamic_bytes: int


@dataclass(frozen=True, slots=True)
class Special:
    """A special register: its type, and its value for each thread of a chunk, or for all."""

    dtype: np.dtype[Any]
    value: Callable[[Launch, Residents], Any]


def _axes(name: str, values: Callable[[Launch, Residents], Any]) -> dict[str, Special]:
    """``%name.x``, ``.y`` and ``.z``; ``.w`` is always zero."""

    def one(axis: int) -> Special:
        return Special(np.dtype("i4"), lambda launch, residents: values(launch, residents)[axis])

    axes = {f"{name}.{letter}": one(axis) for axis, letter in enumerate("xyz")}
    return axes | {f"{name}.w": Special(np.dtype("i4"), lambda *_: np.int32(0))}


def _number(value: Callable[[Launch, Residents], Any], code: str = "u4") -> Special:
    return Special(np.dtype(code), lambda launch, residents: np.asarray(value(launch, residents)).astype(code)[()])


def _block(launch: Launch, residents: Residents) -> Any:
    return coordinates(residents.number[residents.block], launch.grid)


SPECIALS: dict[str, Special] = {
    **_axes("%tid", lambda launch, residents: coordinates(residents.thread, launch.block)),
    **_axes("%ctaid", _block),
    **_axes("%ntid", lambda launch, _: [np.int32(n) for n in launch.block]),
    **_axes("%nctaid", lambda launch, _: [np.int32(n) for n in launch.grid]),
    # Without clusters, each block is one of its own.
    **_axes("%clusterid", _block),
    **_axes("%nclusterid", lambda launch, _: [np.int32(n) for n in launch.grid]),
    **_axes("%cluster_ctaid", lambda *_: [np.int32(0)] * 3),
    **_axes("%cluster_nctaid", lambda *_: [np.int32(1)] * 3),
    "%cluster_ctarank": _number(lambda *_: 0),
    "%cluster_nctarank": _number(lambda *_: 1),
    "%is_explicit_cluster": _number(lambda *_: False, "?"),
    "%laneid": _number(lambda _, residents: residents.lane),
    "%warpid": _number(lambda _, residents: residents.thread // WARP),
    "%nwarpid": _number(lambda _, residents: residents.warps_per_block),
    "%smid": _number(lambda _, residents: residents.number[residents.block]),
    "%nsmid": _number(lambda launch, _: int(np.prod(launch.grid))),
    "%gridid": _number(lambda *_: 1, "u8"),
    "%lanemask_eq": _number(lambda _, residents: 1 << residents.lane),
    "%lanemask_lt": _number(lambda _, residents: (1 << residents.lane) - 1),
    "%lanemask_le": _number(lambda _, residents: (2 << residents.lane) - 1),
    "%lanemask_gt": _number(lambda _, residents: ~((2 << residents.lane) - 1) & 0xFFFFFFFF),
    "%lanemask_ge": _number(lambda _, residents: ~((1 << residents.lane) - 1) & 0xFFFFFFFF),
    "%total_smem_size": _number(lambda launch, _: launch.shared_bytes),
    "%dynamic_smem_size": _number(lambda launch, _: launch.dynamic_bytes),
    "WARP_SZ": _number(lambda *_: WARP),
}

# Registers that tell the time: instructions that the chunk has issued, since there is no clock here.
CLOCKS = {
    **{"%clock": "u4", "%clock_hi": "u4", "%clock64": "u8"},
    **{"%globaltimer": "u8", "%globaltimer_lo": "u4", "%globaltimer_hi": "u4"},
}
