"""The columns of the table of lines: what each line of CUDA C executed, and what its memory accesses cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from convlab.emulator import Counters

__all__ = ["COLUMNS", "LEGEND", "columns"]


def _total(counters: Counters, name: str) -> int:
    """The sum over loads and stores."""
    return counters.get(f"{name}_load", 0) + counters.get(f"{name}_store", 0)


def _number(value: int) -> str:
    return f"{value:,}" if value else ""


def _per_request(counters: Counters) -> str:
    requests = _total(counters, "requests_global")
    return f"{_total(counters, 'sectors_global') / requests:.1f}" if requests else ""


COLUMNS: dict[str, Callable[[Counters], str]] = {
    "instructions": lambda counters: f"{counters.instructions:,}",
    "lanes": lambda counters: f"{counters.active_lanes:.1f}",
    "sectors": lambda counters: _number(_total(counters, "sectors_global")),
    "per request": _per_request,
    "wavefronts": lambda counters: _number(_total(counters, "wavefronts_shared")),
    "conflicts": lambda counters: _number(_total(counters, "conflicts_shared")),
}


# What a column counts, for those who see it for the first time.
LEGEND = {
    "instructions": "warps times PTX instructions of this line",
    "lanes": "active in an instruction on average, of 32",
    "sectors": "pieces of 32 bytes of global memory that loads and stores touch",
    "per request": "sectors of one instruction of one warp: 4 where 32 lanes touch 32 neighbouring floats, 32 at worst",
    "wavefronts": "passes through shared memory: at best one for an instruction of a warp on 4-byte values",
    "conflicts": "wavefronts that other addresses would save: bank conflicts",
}


def columns(lines: Sequence[Counters]) -> dict[str, list[str]]:
    """Each column with its entry for each line; one without an entry in any line is left out.

    >>> list(columns([Counters({"instructions": 2, "thread_instructions": 64})]))
    ['instructions', 'lanes']
    """
    cells = {name: [column(counters) for counters in lines] for name, column in COLUMNS.items()}
    return {name: column for name, column in cells.items() if any(column)}
