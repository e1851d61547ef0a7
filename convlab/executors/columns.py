"""The columns of the table of lines: what each line of CUDA C executed, and what its memory accesses cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from convlab.emulator import Counters

__all__ = ["COLUMNS", "columns"]


def _total(counters: Counters, name: str) -> int:
    """The sum over loads and stores."""
    return counters.get(f"{name}_load", 0) + counters.get(f"{name}_store", 0)


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


def _per_request(counters: Counters) -> str:
    requests = _total(counters, "requests_global")
    return f"{_total(counters, 'sectors_global') / requests:.1f}" if requests else ""


class Column(NamedTuple):
    """A column of the table: what it counts, for those who see it for the first time, and a line's entry."""

    meaning: str
    entry: Callable[[Counters], str]


COLUMNS = {
    "instructions": Column(
        "warps times PTX instructions of this line",
        lambda counters: f"{counters.instructions:,}",
    ),
    "lanes": Column(
        "active in an instruction on average, of 32",
        lambda counters: f"{counters.active_lanes:.1f}",
    ),
    "sectors": Column(
        "pieces of 32 bytes of global memory that loads and stores touch",
        lambda counters: _number(_total(counters, "sectors_global")),
    ),
    "per request": Column(
        "sectors of one instruction of one warp: 4 where 32 lanes touch 32 neighbouring floats, 32 at worst",
        _per_request,
    ),
    "wavefronts": Column(
        "passes through shared memory: at best one for an instruction of a warp on 4-byte values",
        lambda counters: _number(_total(counters, "wavefronts_shared")),
    ),
    "conflicts": Column(
        "wavefronts that other addresses would save: bank conflicts",
        lambda counters: _number(_total(counters, "conflicts_shared")),
    ),
}


def columns(lines: Sequence[Counters]) -> dict[str, list[str]]:
    """Each column with its entry for each line; one without an entry in any line is left out.

    >>> list(columns([Counters({"instructions": 2, "thread_instructions": 64})]))
    ['instructions', 'lanes']
    """
    cells = {name: [column.entry(counters) for counters in lines] for name, column in COLUMNS.items()}
    return {name: column for name, column in cells.items() if any(column)}
