"""Counters by Nsight Compute's definitions, in total and for each line of CUDA C."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from convlab.emulator.addresses import nearest
from convlab.emulator.classes import CLASSES, class_of, flops
from convlab.emulator.code import Meeting, Site, Step
from convlab.emulator.lanes import Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.observers.requests import count_sectors, count_wavefronts
from convlab.emulator.program import Place

__all__ = ["METRICS", "UNOBSERVED", "Counter", "Counters"]

ACTIONS = {"load": "ld", "store": "st"}

# Our name → the metric of Nsight Compute that it stands for. PTX is not the machine code, so instruction counts are
# never claimed to equal the hardware's.
METRICS = {
    "instructions": "smsp__inst_executed.sum (of PTX instructions)",
    "thread_instructions": "smsp__thread_inst_executed.sum (of PTX instructions)",
    **{
        f"thread_instructions_{name}": f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum (of PTX instructions)"
        for name in CLASSES
    },
    "branches": "smsp__sass_inst_executed_op_branch.sum (conditional ones)",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum (branches at which a warp parts)",
    "flop": "smsp__sass_thread_inst_executed_op_{f,d,h}{add,mul,fma}_pred_on.sum, fused ones twice",
    **{f"flop_{name}": f"the {name} part of flop" for name in ("fp16", "fp32", "fp64")},
    "tensor_instructions": "smsp__inst_executed_pipe_tensor.sum",
    "tensor_flop": "2·M·N·K of each Tensor Core instruction",
    "tensor_flop_useful": "those whose both factors are not zero",
    **{
        f"{count}_{space}_{action}": f"l1tex__t_{count}_pipe_lsu_mem_{space}_op_{op}.sum"
        for space in ("global", "local")
        for action, op in ACTIONS.items()
        for count in ("requests", "sectors")
    },
    **{
        f"sectors_ideal_global_{action}": "memory_l2_theoretical_sectors_global_ideal (the fewest for these bytes)"
        for action in ACTIONS
    },
    **{f"bytes_global_{action}": "distinct bytes that each request asks for, summed" for action in ACTIONS},
    **{f"thread_bytes_global_{action}": "bytes that threads ask for, repeated ones each time" for action in ACTIONS},
    **{f"requests_shared_{action}": f"smsp__inst_executed_op_shared_{op}.sum" for action, op in ACTIONS.items()},
    **{f"thread_bytes_shared_{action}": "bytes that threads ask for, repeated ones each time" for action in ACTIONS},
    **{
        f"wavefronts_shared_{action}": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
        for action, op in ACTIONS.items()
    },
    **{
        f"conflicts_shared_{action}": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
        for action, op in ACTIONS.items()
    },
    "atomics_global": "smsp__inst_executed_op_global_{atom,red}.sum",
    "atomics_shared": "smsp__inst_executed_op_shared_atom.sum",
    "barriers": "warps that met at barriers of their block",
}


class Counters(Mapping[str, int]):
    """Counts, by attribute and by key; names and meanings are those of `METRICS`.

    ``sampled`` is how many of how many blocks were run, when the counts of a few stand for all.

    >>> counters = Counters({"instructions": 4, "thread_instructions": 96})
    >>> counters.instructions, counters["instructions"], counters.active_lanes
    (4, 4, 24.0)
    """

    def __init__(self, values: Mapping[str, int], why_empty: str = "", sampled: tuple[int, int] | None = None) -> None:
        self._values = dict.fromkeys(METRICS, 0) | dict(values) if not why_empty else {}
        self._why_empty = why_empty
        self.sampled = sampled

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
        return _ratio(self.thread_instructions, self.instructions)

    @property
    def sectors_per_request_load(self) -> float:
        """Sectors of 32 bytes that one global load of a warp touches, on average: 1 to 32."""
        return _ratio(self.sectors_global_load, self.requests_global_load)

    @property
    def sectors_per_request_store(self) -> float:
        """Sectors of 32 bytes that one global store of a warp touches, on average: 1 to 32."""
        return _ratio(self.sectors_global_store, self.requests_global_store)

    def __add__(self, other: Counters) -> Counters:
        return Counters({name: self.get(name, 0) + other.get(name, 0) for name in METRICS})

    def scaled(self, run: int, of: int) -> Counters:
        """What all blocks would count, if they are like those that were run."""
        return Counters({name: round(value * of / run) for name, value in self.items()}, sampled=(run, of))

    def __repr__(self) -> str:
        if self._why_empty:
            return f"Counters: none. {self._why_empty}"
        lines = [f"{name:34}{value:>16,}" for name, value in self.items() if value or name in ALWAYS]
        if self.sampled is not None:
            lines.append("scaled from {:,} of {:,} blocks".format(*self.sampled))
        return "\n".join(lines)


ALWAYS = list(METRICS)[:2]  # what a listing shows even when it is zero


def _ratio(a: int, b: int) -> float:
    return a / b if b else 0.0


UNOBSERVED = Counters({}, "This run was not observed: launch with device='emulator' and observe=True to count.")


class Counter:
    """The observer that counts: executions of steps, and what memory instructions cost."""

    def attach(self, machine: Machine) -> None:
        """Make room for the steps and memory instructions of a kernel."""
        self.code = machine.code
        self.buffers = machine.memory.everywhere.buffers
        self.warps = [0] * len(self.code.steps)
        self.threads = [0] * len(self.code.steps)
        # Of each memory instruction, by the number of the buffer that its first lane touches; −1 where that is none.
        self.sites: list[dict[int, dict[str, int]]] = [{} for _ in self.code.sites]
        self.others: dict[Place, dict[str, int]] = {}
        self.at = 0

    def step(self, index: int, lanes: Lanes) -> None:
        """A step runs with these lanes."""
        self.at = index
        self.warps[index] += lanes.warps
        self.threads[index] += lanes.size

    def branch(self, at: int, lanes: Lanes, taken: Lanes | None, fallen: Lanes | None) -> None:
        """A conditional branch, a step's last instruction: a warp parts when some of its lanes are on either side."""
        step = self.code.steps[at]  # one without instructions is the guard of the next
        counts = self._at(step.instructions[-1].place if step.instructions else step.place)
        _add(counts, branches=lanes.warps)
        if taken is not None and fallen is not None:
            _add(counts, divergent_branches=taken.warps + fallen.warps - lanes.warps)

    def meeting(self, step: Step, meeting: Meeting, lanes: Lanes) -> None:
        """A barrier of the block, a step's first instruction, for each of its warps."""
        if meeting.barrier:
            _add(self._at(step.instructions[0].place), barriers=lanes.warps)

    def multiply(self, flop: int, useful: int, lanes: Lanes) -> None:
        """A Tensor Core instruction, a step's first: operations of each warp, and of all those without a zero."""
        counts = self._at(self.code.steps[self.at].instructions[0].place)
        _add(counts, tensor_instructions=lanes.warps, tensor_flop=flop * lanes.warps, tensor_flop_useful=useful)

    def _at(self, place: Place) -> dict[str, int]:
        """What is counted of a line beside executions and memory accesses."""
        return self.others.setdefault(place, {})

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """A memory instruction touches these addresses."""
        kind = COUNTED.get((site.space, site.action))
        if kind is not None:
            buffer = _buffer(address) if site.space == "global" and lanes.size else -1
            kind(self.sites[site.index].setdefault(buffer, {}), site, address, lanes)

    def lines(self) -> dict[tuple[str, int], Counters]:
        """Counters of each line of CUDA C that executed anything, in the order of the source."""
        found: dict[tuple[str, int], dict[str, int]] = {}

        def at(place: Place) -> dict[str, int]:
            return found.setdefault((place.file, place.line), {})

        for step, warps, threads in zip(self.code.steps, self.warps, self.threads, strict=True):
            for instruction in step.instructions if warps else ():
                kind, flop = class_of(instruction), threads * flops(instruction)
                _add(at(instruction.place), instructions=warps, thread_instructions=threads, flop=flop)
                _add(at(instruction.place), **{f"thread_instructions_{kind}": threads})
                if flop:
                    _add(at(instruction.place), **{f"flop_{kind}": flop})
        for place, counts in self.others.items():
            _add(at(place), **counts)
        for site, buffers in zip(self.code.sites, self.sites, strict=True):
            for counts in buffers.values():
                _add(at(site.place), **counts)
        return {key: Counters(found[key]) for key in sorted(found) if any(found[key].values())}

    def arrays(self) -> dict[str, Counters]:
        """What was counted of global memory, for each array by its parameter's name."""
        found: dict[str, dict[str, int]] = {}
        for buffers in self.sites:
            for number, counts in buffers.items():
                if 0 <= number < len(self.buffers):
                    _add(found.setdefault(self.buffers[number].name, {}), **counts)
        return {name: Counters(counts) for name, counts in found.items()}


def _buffer(address: Any) -> int:
    """The number of the buffer that the first of some addresses lies in, or near."""
    return int(nearest(int(address if not address.ndim else address[0])))


def _add(counts: dict[str, int], **more: int) -> None:
    for name, value in more.items():
        counts[name] = counts.get(name, 0) + value


def _global(counts: dict[str, int], site: Site, address: Any, lanes: Lanes) -> None:
    """Requests, sectors, the fewest sectors, and distinct bytes."""
    requests = lanes.warps
    sectors = ideal = requests
    unique = site.width * requests  # all lanes at one address: one sector, and the bytes once
    if address.ndim:
        sectors, ideal, unique = count_sectors(address, site.width, lanes.warp)
    name = f"{site.space}_{site.action}"
    _add(counts, **{f"requests_{name}": requests, f"sectors_{name}": sectors})
    _add(counts, **{f"sectors_ideal_{name}": ideal, f"bytes_{name}": unique})
    _add(counts, **{f"thread_bytes_{name}": site.width * lanes.size})


def _local(counts: dict[str, int], site: Site, address: Any, lanes: Lanes) -> None:
    """Local memory is interleaved: word i of all threads of a warp lies in 128 bytes side by side."""
    requests = lanes.warps
    offsets = address if address.ndim else address.repeat(lanes.size)
    sectors = 0
    for word in range(0, max(4, site.width), 4):
        places = ((offsets + word) >> 2 << 7) + (lanes.lane << 2)
        sectors += count_sectors(places, 4, lanes.warp)[0]
    name = f"local_{site.action}"
    _add(counts, **{f"requests_{name}": requests, f"sectors_{name}": sectors})


def _shared(counts: dict[str, int], site: Site, address: Any, lanes: Lanes) -> None:
    """Requests, wavefronts, and those wavefronts that better addresses would save."""
    requests = wavefronts = ideal = lanes.warps
    if address.ndim:
        wavefronts, ideal = count_wavefronts(address, site.width, lanes.warp, lanes.lane)
    name = f"shared_{site.action}"
    _add(counts, **{f"requests_{name}": requests, f"wavefronts_{name}": wavefronts})
    _add(counts, **{f"conflicts_{name}": max(0, wavefronts - ideal)})
    _add(counts, **{f"thread_bytes_{name}": site.width * lanes.size})


def _atomic(counts: dict[str, int], site: Site, address: Any, lanes: Lanes) -> None:
    _add(counts, **{f"atomics_{site.space}": lanes.warps})


# (space, action) → what is counted; constants and parameters come from another cache.
COUNTED = {
    **{("global", action): _global for action in ACTIONS},
    **{("local", action): _local for action in ACTIONS},
    **{("shared", action): _shared for action in ACTIONS},
    **{(space, "atomic"): _atomic for space in ("global", "shared")},
}
