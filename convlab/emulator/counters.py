"""Counters by Nsight Compute's definitions, in total and for each line of CUDA C.

An observer: the machine tells it which steps ran with which lanes, and which addresses were touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numba import njit

from convlab.emulator.code import Code, Site
from convlab.emulator.instructions import flops
from convlab.emulator.lanes import Lanes

__all__ = ["METRICS", "UNOBSERVED", "Counter", "Counters"]

# Our name → the metric of Nsight Compute that it stands for. PTX is not the machine code, so the two instruction
# counts are never claimed to equal the hardware's.
METRICS = {
    "instructions": "smsp__inst_executed.sum (of PTX instructions)",
    "thread_instructions": "smsp__thread_inst_executed.sum (of PTX instructions)",
    "flop": "smsp__sass_thread_inst_executed_op_{fadd,fmul,ffma}_pred_on.sum, fused ones twice; doubles likewise",
    "requests_global_load": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "sectors_global_load": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "requests_global_store": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "sectors_global_store": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
}


class Counters(Mapping[str, int]):
    """Counts, by attribute and by key; names and meanings are those of `METRICS`.

    >>> counters = Counters({"instructions": 4, "thread_instructions": 96})
    >>> counters.instructions, counters["instructions"], counters.active_lanes
    (4, 4, 24.0)
    """

    def __init__(self, values: Mapping[str, int], why_empty: str = "") -> None:
        self._values = dict.fromkeys(METRICS, 0) | dict(values) if not why_empty else {}
        self._why_empty = why_empty

    def __getattr__(self, name: str) -> int:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(*error.args) from None

    def __getitem__(self, name: str) -> int:
        if name not in self._values:
            known = self._why_empty or f"The counters are: {', '.join(METRICS)}."
            raise KeyError(f"no counter {name!r} here. {known}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def active_lanes(self) -> float:
        """Lanes active per executed instruction, 0 to 32 (``smsp__thread_inst_executed_per_inst_executed.ratio``)."""
        return self.thread_instructions / self.instructions if self.instructions else 0.0

    @property
    def sectors_per_request_load(self) -> float:
        """Sectors of 32 bytes that one load of a warp touches, on average: 1 to 32."""
        return self.sectors_global_load / self.requests_global_load if self.requests_global_load else 0.0

    @property
    def sectors_per_request_store(self) -> float:
        """Sectors of 32 bytes that one store of a warp touches, on average: 1 to 32."""
        return self.sectors_global_store / self.requests_global_store if self.requests_global_store else 0.0

    def __add__(self, other: Counters) -> Counters:
        return Counters({name: self.get(name, 0) + other.get(name, 0) for name in METRICS})

    def __repr__(self) -> str:
        if self._why_empty:
            return f"Counters: none. {self._why_empty}"
        return "\n".join(f"{name:24}{value:>16,}" for name, value in self.items())


UNOBSERVED = Counters({}, "This run was not observed: launch with device='emulator' and observe=True to count.")


class Counter:
    """The observer that counts: executions of steps, and requests and sectors of memory instructions."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.warps = [0] * len(code.steps)
        self.threads = [0] * len(code.steps)
        self.requests = [0] * len(code.sites)
        self.sectors = [0] * len(code.sites)

    def step(self, index: int, lanes: Lanes) -> None:
        """A step runs with these lanes."""
        self.warps[index] += lanes.warps
        self.threads[index] += lanes.size

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """A memory instruction touches these addresses."""
        self.requests[site.index] += lanes.warps
        self.sectors[site.index] += count_sectors(address, lanes.warp) if address.ndim else lanes.warps

    def lines(self) -> dict[tuple[str, int], Counters]:
        """Counters of each line of CUDA C that executed anything, in the order of the source."""
        found: dict[tuple[str, int], dict[str, int]] = {}

        def add(file: str, line: int, name: str, value: int) -> None:
            entry = found.setdefault((file, line), {})
            entry[name] = entry.get(name, 0) + value

        for step, warps, threads in zip(self.code.steps, self.warps, self.threads, strict=True):
            for instruction in step.instructions if warps else ():
                place = instruction.place
                add(place.file, place.line, "instructions", warps)
                add(place.file, place.line, "thread_instructions", threads)
                add(place.file, place.line, "flop", threads * flops(instruction))
        for site, requests, sectors in zip(self.code.sites, self.requests, self.sectors, strict=True):
            if requests and site.space == "global" and site.action != "atomic":
                add(site.place.file, site.place.line, f"requests_{site.space}_{site.action}", requests)
                add(site.place.file, site.place.line, f"sectors_{site.space}_{site.action}", sectors)
        return {key: Counters(found[key]) for key in sorted(found)}


@njit(cache=True, nogil=True)
def count_sectors(address: Any, warp: Any) -> int:
    """Distinct aligned 32-byte pieces in each warp's request, summed; an aligned access never straddles two."""
    total = 0
    distinct = 0
    current = -1
    latest = -1
    seen = [0] * 32
    for lane in range(address.size):
        sector = address[lane] >> 5
        if warp[lane] != current:
            current = warp[lane]
            total += distinct
            seen[0] = sector
            distinct = 1
        elif sector != latest:
            known = False
            for n in range(distinct):
                if seen[n] == sector:
                    known = True
            if not known:
                seen[distinct] = sector
                distinct += 1
        latest = sector
    return total + distinct
