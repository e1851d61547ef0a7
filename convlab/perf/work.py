"""The work of a method on a spec: what each of its launches counts, and the bytes that nobody can save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import gcd, prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from convlab.emulator import Buffer, Counters, run
from convlab.emulator.machine import Machine
from convlab.emulator.observers import lru
from convlab.emulator.observers.cache import CacheModel, CacheSizes, Traffic
from convlab.emulator.observers.counters import Counter
from convlab.emulator.observers.requests import SECTOR
from convlab.executors.arguments import bind
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.module import Kernel
from convlab.executors.resources import ResourcesByArchitecture
from convlab.executors.shape import Dim3
from convlab.kernels.ladder import method as find_method
from convlab.kernels.method import Launch, Method, Plan
from convlab.kernels.ops import OPS
from convlab.perf.trial import random_array

__all__ = ["LaunchWork", "Sample", "Work", "work", "work_of_plan"]

Array = npt.NDArray[Any]
Sample = Literal["auto", False] | int

BUDGET = 100_000_000  # thread-instructions that a sampled launch may cost: about a second
FEWEST, MOST = 3, 127  # blocks of a sample, where the budget allows more than one
# Each block of a chunk with an L1 of its own: a quarter of what GA102 has, which resident blocks share.
L1 = CacheSizes(gpu="any GPU", l1_bytes=32 * 1024, sms=1024)


class OwnL1(CacheModel):
    """The model of the L1 with one for each block, so that a sample finds what all blocks find."""

    def start(self, machine: Machine) -> None:
        """A chunk begins: all its blocks are new."""
        self.l1 = lru.empty(self.sizes.sms * self.sizes.l1_sets, self.sizes.l1_ways)
        self.sms = np.arange(machine.residents.number.size) % self.sizes.sms


@dataclass(frozen=True, slots=True)
class LaunchWork:
    """What one launch does, counted on all its blocks or scaled from some; see ``counters.sampled``.

    ``shared`` is bytes of dynamic shared memory for a block; ``arrays`` maps a parameter's name to the counters of its
    array, ``sizes`` to the bytes of it that the launch can touch. ``l2_load_bytes`` is what loads did not find in the
    L1, modelled as in `convlab.emulator.observers.cache`, with an L1 for each block; ``dtype`` is the type that Tensor
    Cores multiply.
    """

    kernel: Kernel
    source: str
    grid: Dim3
    block: Dim3
    shared: int
    options: tuple[str, ...]
    dtype: str
    counters: Counters
    arrays: Mapping[str, Counters]
    sizes: Mapping[str, int]
    l2_load_bytes: int

    @property
    def entry(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @property
    def resources(self) -> ResourcesByArchitecture:
        """Registers, shared memory and spills on each GPU architecture, assembled when they are asked for."""
        return self.kernel.resources

    @property
    def loaded_bytes(self) -> int:
        """The fewest bytes that loads bring: each array once, or what is touched of it."""
        return self._once("sectors_global_load")

    @property
    def stored_bytes(self) -> int:
        """The fewest bytes that stores and atomics write: each array once, or what is touched of it."""
        return self._once("sectors_global_store")

    def _once(self, sectors: str) -> int:
        return sum(min(self.sizes.get(name, 0), SECTOR * counts[sectors]) for name, counts in self.arrays.items())


@dataclass(frozen=True, slots=True, repr=False)
class Work:
    """All launches of a method on a spec; iterates over them.

    ``compulsory`` maps each tensor of the op to its bytes: what any method has to read or write at least once.
    """

    spec: Any
    method: str
    launches: tuple[LaunchWork, ...]
    compulsory: Mapping[str, int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[LaunchWork]:
        return iter(self.launches)

    def __len__(self) -> int:
        return len(self.launches)

    @property
    def counters(self) -> Counters:
        """The counters of all launches, added up."""
        return sum((launch.counters for launch in self.launches), Counters({}))

    @property
    def sampled(self) -> bool:
        """Whether some counts are scaled from a part of the blocks."""
        return any(launch.counters.sampled is not None for launch in self.launches)

    def __repr__(self) -> str:
        lines = [f"work of {self.method} on {self.spec!r}"]
        for each in self.launches:
            part = "" if each.counters.sampled is None else " (from {:,} of {:,} blocks)".format(*each.counters.sampled)
            counted = f"{each.counters.instructions:,} instructions{part}"
            lines.append(f"  {each.entry}<<<{each.grid}, {each.block}>>>: {counted}")
        return "\n".join(lines)


def work(spec: Any, method: str, sample: Sample = "auto") -> Work:
    """Count what a method does for a spec, on random inputs and without a bias; big grids are sampled.

    >>> from convlab.kernels.layers import LAYERS
    >>> standard = LAYERS["conv2d"]["standard"]
    >>> done = work(standard, "naive")
    >>> done.compulsory
    {'x': 65536, 'w': 9216, 'y': 65536}
    >>> [(launch.entry, launch.grid, launch.counters.requests_global_store) for launch in done]
    [('conv_naive', (4, 16, 1), 512)]

    Parameters: ``spec`` is one of the method's op; ``method`` the name of a kernel; ``sample`` is "auto" (all blocks
    where that takes about a second, else some spread over the grid), how many blocks to run, or False for all.

    Raises ``ValueError`` for a reference method, for one with a step that cuBLAS does, for a spec that the method does
    not support, and for another ``sample``.
    """
    number = isinstance(sample, int) and not isinstance(sample, bool) and sample >= 1
    if not (number or sample == "auto" or sample is False):
        raise ValueError(f"sample={sample!r} is neither 'auto', nor False, nor a number of blocks from 1 on.")
    return _work(spec, method, sample)


@lru_cache(maxsize=256)
def _work(spec: Any, method: str, sample: Sample) -> Work:
    record = find_method(method)
    plan = _plan(record, spec)
    op = OPS[record.op]
    shapes = op.shapes_in(spec, record.layout)
    output = shapes.pop("y")
    rng = np.random.default_rng(0)
    needed = {name: shape for name, shape in shapes.items() if name not in op.optional}
    tensors = {name: random_array(shape, op.dtype(name, record), rng) for name, shape in needed.items()}
    tensors["y"] = empty(output, record.output_dtype)
    launches = work_of_plan(plan, tensors, record.dtype, sample)
    return Work(spec, method, launches, {name: array.nbytes for name, array in tensors.items()})


def _plan(record: Method, spec: Any) -> Plan:
    reason = record.supports(spec)
    if reason is not None:
        raise ValueError(f"Method {record.name!r} does not support this {record.op}: {reason}\n  In: {spec!r}")
    fix = "Fix: take a method whose steps are all kernels, such as those of cl.methods() with CUDA C."
    if record.plan is None:
        raise ValueError(f"{record.name!r} is a reference method: it has no kernels to count.\n  {fix}")
    plan = record.plan(spec)
    if len(plan.launches) < len(plan.steps):
        raise ValueError(f"A step of {record.name!r} is cuBLAS's, which runs on a GPU only.\n  {fix}")
    return plan


def work_of_plan(
    plan: Plan, tensors: Mapping[str, Array], dtype: str, sample: Sample = "auto"
) -> tuple[LaunchWork, ...]:
    """Count what each launch of a plan does with these tensors; scratch arrays are random, as each launch runs alone.

    Parameters: ``tensors`` are the plan's arrays by name; ``dtype`` is the type that Tensor Cores multiply, where they
    do; ``sample`` is as for `work`, and launches that differ in their part of one work only are sampled once.
    """
    rng = np.random.default_rng(99)
    scratch = {name: random_array(shape, dtype, rng) for name, (shape, dtype) in plan.scratch.items()}
    known: dict[str, LaunchWork] = {}
    launches = []
    for step in plan.launches:
        key = _kind(step)
        if sample is False or key not in known:
            known[key] = _launch(step, {**tensors, **scratch}, dtype, sample)
        launches.append(known[key])
    return tuple(launches)


def _kind(step: Launch) -> str:
    """The same for launches that do alike: a plan in pieces numbers them by its kernels' last argument."""
    numbered = bool(step.arguments) and isinstance(step.arguments[-1], int)
    arguments = step.arguments[:-1] if numbered else step.arguments
    return repr(replace(step, arguments=arguments, constants={}))


def _launch(step: Launch, tensors: Mapping[str, Array], dtype: str, sample: Sample) -> LaunchWork:
    module = compile(step.text(), step.source, options=step.options)
    for variable, (tensor, start, stop) in step.constants.items():
        module.write(variable, tensors[tensor].reshape(-1)[start:stop])
    kernel = module.kernels[step.entry]
    arguments = [tensors.get(each) if isinstance(each, str) else each for each in step.arguments]
    counter, traffic, chosen = _counted(kernel, step, arguments, sample)
    blocks = prod(step.grid)
    counters = sum(counter.lines().values(), Counters({}))
    arrays = counter.arrays()
    if chosen < blocks:
        counters = counters.scaled(chosen, blocks)
        arrays = {name: counts.scaled(chosen, blocks) for name, counts in arrays.items()}
    return LaunchWork(
        kernel,
        step.source,
        step.grid,
        step.block,
        step.shared,
        step.options,
        dtype,
        counters,
        arrays,
        {each.parameter.name: each.array.nbytes for each in bind(kernel, arguments) if each.array is not None},
        SECTOR * traffic.l2_load_sectors * blocks // chosen,
    )


def _counted(kernel: Kernel, step: Launch, arguments: list[Any], sample: Sample) -> tuple[Counter, Traffic, int]:
    """The counts of a launch, and how many of its blocks they are from."""
    blocks = prod(step.grid)
    if sample != "auto":
        chosen = min(sample or blocks, blocks)
        return *_run(kernel, step, arguments, chosen), chosen
    pilot = _run(kernel, step, arguments, 1)
    affordable = BUDGET // max(1, sum(counts.thread_instructions for counts in pilot[0].lines().values()))
    if affordable < FEWEST or blocks == 1:
        return *pilot, 1
    chosen = blocks if affordable >= blocks else _spread(min(affordable, MOST), step.grid)
    return *_run(kernel, step, arguments, chosen), chosen


def _spread(most: int, grid: Dim3) -> int:
    """How many blocks to run, at most: without a period in common with the grid, and with their share of its edges."""
    numbers = range(most, most // 2, -1)
    apart = [chosen for chosen in numbers if gcd(chosen, prod(grid)) == 1]
    return min(apart or numbers, key=lambda chosen: _bias(chosen, grid))


def _bias(chosen: int, grid: Dim3) -> float:
    """How far off the share of first and last blocks along an axis is, when the emulator spreads some over the grid."""
    numbers = (2 * np.arange(chosen) + 1) * prod(grid) // (2 * chosen)
    shares = []
    for size in grid:
        numbers, at = np.divmod(numbers, size)
        shares += [abs(float(np.mean(at == edge)) - 1 / size) for edge in (0, size - 1)]
    return max(shares)


def _run(kernel: Kernel, step: Launch, arguments: list[Any], blocks: int) -> tuple[Counter, Traffic]:
    """Run some blocks under the counter and the model of the L1, without looking for faults."""
    counter, caches = Counter(), OwnL1(L1)
    given = [
        each.data if each.array is None else Buffer(each.parameter.name, each.array) for each in bind(kernel, arguments)
    ]
    run(
        kernel.program_entry,
        step.grid,
        step.block,
        given,
        shared=step.shared,
        observe=False,
        observers=[counter, caches],
        sample=blocks,
    )
    return counter, caches.traffic()
