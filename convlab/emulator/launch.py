"""One launch: a kernel, its arguments and its shape in; counters, faults and what it printed out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from convlab.emulator.addresses import buffer_address
from convlab.emulator.code import Code, StoppedError
from convlab.emulator.faults import Fault
from convlab.emulator.layout import packed
from convlab.emulator.machine import BUDGET, Machine
from convlab.emulator.memory import Buffer, Memory
from convlab.emulator.names import readable
from convlab.emulator.observers.counters import UNOBSERVED, Counter, Counters
from convlab.emulator.observers.races import Races
from convlab.emulator.observers.written import Written
from convlab.emulator.program import Function
from convlab.emulator.specials import Dim3, Launch
from convlab.emulator.translate import translate
from convlab.errors import LaunchError

__all__ = ["MOST_SHARED", "Progress", "Result", "run"]

MOST_SHARED = 232_448  # bytes: 227 KB, on Hopper
MOST_STATIC = 49_152  # of these; beyond, the assembler of every GPU refuses the kernel
MOST_LOCAL = 1 << 19  # bytes of a thread


@dataclass(frozen=True, slots=True)
class Result:
    """What a launch did: counters in total, by (file, line) and by array, the faults found, and what it printed."""

    counters: Counters
    lines: dict[tuple[str, int], Counters]
    arrays: dict[str, Counters]
    faults: list[Fault]
    stdout: str


class Progress:
    """Is told how far a launch is; this one does nothing about it."""

    def done(self, blocks: int) -> None:
        """So many more blocks have run to their end."""

    def pulse(self, instructions: int) -> None:
        """The blocks at hand have issued so many instructions."""


def run(
    kernel: Function,
    grid: Dim3,
    block: Dim3,
    arguments: Sequence[Buffer | bytes | None],
    *,
    shared: int = 0,
    observe: bool = True,
    observers: Sequence[Any] = (),
    budget: int | None = None,
    seed: int | None = None,
    sample: int | None = None,
    files: Collection[str] = (),
    progress: Progress | None = None,
) -> Result:
    """Execute a kernel.

    Args:
        kernel: a parsed kernel.
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        arguments: one for each parameter: a buffer, the bytes of a scalar or struct, or ``None`` for a null pointer.
        shared: bytes of dynamic shared memory for each block.
        observe: count, and check shared memory and unwritten memory.
        observers: further ones; see `convlab.emulator.observers`.
        budget: how many instructions the lanes of a chunk may issue before the launch ends as an endless loop.
        seed: lets chance decide which warps go first; ``None`` is the same order on every run.
        sample: run only so many blocks, spread over the grid, and scale the counters; what the others write is missing.
        files: the sources whose lines faults name; those of headers are called from them.
        progress: is told how far the launch is.

    Raises:
        UnsupportedInstruction: before anything runs.
        LaunchError: more shared or local memory than a GPU has.
    """
    _check_clusters(kernel)
    code = translate(kernel)
    _check_memory(code, shared)
    launch = Launch(grid, block, code.shared_bytes + shared, shared)
    buffers, parameters = _buffers(kernel, arguments)
    memory = Memory(buffers, parameters, code, launch.shared_bytes)
    machine = Machine(code, memory, launch, BUDGET if budget is None else budget, seed, files)
    counter = Counter()
    for observer in (*((counter, Races(), Written()) if observe else ()), *observers):
        machine.observe(observer)
    blocks = prod(grid)
    chosen = blocks if sample is None else min(sample, blocks)
    _run_blocks(machine, chosen, blocks, progress or Progress())
    return Result(*_counted(counter, observe, chosen, blocks), machine.log.faults(), memory.printer.text())


def _run_blocks(machine: Machine, chosen: int, blocks: int, progress: Progress) -> None:
    """Run all blocks, or some spread evenly over them, to the end or to a fault that ends the launch."""
    machine.pulse = progress.pulse
    with np.errstate(all="ignore"), suppress(StoppedError):
        for first in range(0, chosen, machine.blocks_per_chunk):
            some = np.arange(first, min(first + machine.blocks_per_chunk, chosen))
            machine.chunk(some if chosen == blocks else (2 * some + 1) * blocks // (2 * chosen))
            progress.done(some.size)
        if chosen == blocks:
            machine.finish()


def _counted(
    counter: Counter, observe: bool, chosen: int, blocks: int
) -> tuple[Counters, dict[tuple[str, int], Counters], dict[str, Counters]]:
    """The counters in total, by line and by array; those of a sample stand for all blocks."""
    if not observe:
        return UNOBSERVED, {}, {}
    lines, arrays = counter.lines(), counter.arrays()
    total = sum(lines.values(), Counters({}))
    if chosen == blocks:
        return total, lines, arrays
    return (
        total.scaled(chosen, blocks),
        {place: counts.scaled(chosen, blocks) for place, counts in lines.items()},
        {name: counts.scaled(chosen, blocks) for name, counts in arrays.items()},
    )


def _check_clusters(kernel: Function) -> None:
    """Blocks of a cluster use each other's shared memory."""
    cluster = kernel.limits.get("reqnctapercluster", (1,))
    if prod(cluster) > 1:
        raise LaunchError(
            f"{readable(kernel.name)[:40]} needs clusters of {cluster} blocks, and the emulator runs none.\n"
            "  Fix: leave __cluster_dims__ out, and hand things from block to block through global memory."
        )


def _check_memory(code: Code, shared: int) -> None:
    """No GPU has more of these memories, and this machine should not be asked for them."""
    total = code.shared_bytes + shared
    for size, most, what, fix in (
        (total, MOST_SHARED, "shared memory for a block", "smaller tiles"),
        (code.shared_bytes, MOST_STATIC, "shared memory in variables of fixed size", "extern __shared__ and shared=…"),
        (code.frame, MOST_LOCAL, "local memory", "smaller arrays"),
    ):
        if size > most:
            raise LaunchError(
                f"The kernel needs {size:,} bytes of {what}, and {most:,} is the most that a GPU has.\n"
                f"  Fix: use {fix}."
            )


def _buffers(kernel: Function, arguments: Sequence[Buffer | bytes | None]) -> tuple[list[Buffer], bytes]:
    """The buffers of a launch in their order (variables, parameters, arguments), and the bytes of the parameters."""
    variables = [
        Buffer(readable(v.name), v.data, writable=v.space == "global", raw=True)
        for v in kernel.module.in_global_memory()
    ]
    arrays = [argument for argument in arguments if isinstance(argument, Buffer)]
    parameters = _pack(kernel, arguments, len(variables) + 1)
    own = Buffer("the parameters", np.frombuffer(parameters, np.uint8), writable=False)
    return [*variables, own, *arrays], parameters


def _pack(kernel: Function, arguments: Sequence[Buffer | bytes | None], index: int) -> bytes:
    """The parameter bytes as the kernel sees them: pointers are addresses, everything lies at its alignment.

    ``index`` is the number of the first argument's buffer.
    """
    places, size = packed(kernel.params)
    out = bytearray(size)
    for (param, at), argument in zip(places, arguments, strict=True):
        value = argument if isinstance(argument, bytes) else bytes(8)
        if isinstance(argument, Buffer):
            value = buffer_address(index).to_bytes(8, "little")
            index += 1
        assert len(value) == param.size, f"{param.name}: {len(value)} bytes for {param.size}"
        out[at : at + param.size] = value
    return bytes(out)
