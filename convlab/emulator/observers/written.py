"""The sanitizer's check of memory that nobody wrote: reads of it, and outputs that were never stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.addresses import buffer_address, nearest
from convlab.emulator.code import Site
from convlab.emulator.faults import Fault
from convlab.emulator.lanes import Lanes
from convlab.emulator.machine import Machine
from convlab.emulator.memory.buffers import Buffer, place_of
from convlab.emulator.observers.shadow import mark, some_unwritten

__all__ = ["Written"]

NOBODY = (0, 0, 0)  # an output that nobody wrote has no culprit


class Written:
    """Keeps a flag for each byte of shared and local memory, and of the buffers that carry flags of their own."""

    def attach(self, machine: Machine) -> None:
        """Find the buffers that have flags."""
        self.machine = machine
        self.buffers: list[Buffer] = machine.memory.everywhere.buffers
        self.watched = [n for n, buffer in enumerate(self.buffers) if buffer.written is not None]

    def start(self, machine: Machine) -> None:
        """Fresh shared and local memory."""
        self.shared = np.zeros(machine.memory.shared.data.size, np.bool_)
        self.stride = machine.memory.local.stride
        self.local = np.zeros(machine.residents.number.size * machine.threads * self.stride, np.bool_)

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """Check a read, note a write."""
        if site.space == "global":
            if self.watched:
                self._global(site, address, lanes)
        elif site.space == "shared":
            space = self.machine.memory.shared
            inside = np.where((address >= 0) & (address < space.size), address + lanes.block * space.stride, -1)
            self._check(site, self.shared, inside, lanes, False)
        elif site.space == "local":
            if self.machine.memory.local.stride != self.stride:
                self._grow()
            rows = (lanes.block * self.machine.threads + lanes.thread) * self.stride
            inside = np.where((address >= 0) & (address < self.stride), address + rows, -1)
            self._check(site, self.local, inside, lanes, True)

    def _grow(self) -> None:
        """Calls make local memory longer."""
        stride = self.machine.memory.local.stride
        longer = np.zeros((self.machine.residents.number.size * self.machine.threads, stride), np.bool_)
        longer[:, : self.stride] = self.local.reshape(-1, self.stride) if self.stride else False
        self.local, self.stride = longer.reshape(-1), stride

    def _global(self, site: Site, address: Any, lanes: Lanes) -> None:
        """Reads and writes of the buffers that have flags."""
        which = nearest(address)
        for index in self.watched:
            if np.any(which == index):
                flags = self.buffers[index].written
                assert flags is not None
                offset = np.where(which == index, address - buffer_address(index), -1)
                self._check(site, flags, np.broadcast_to(offset, lanes.size), lanes, False, self.buffers[index])

    def _check(
        self, site: Site, flags: NDArray[np.bool_], at: Any, lanes: Lanes, whole: bool, buffer: Buffer | None = None
    ) -> None:
        """Complain of a read, unless all that is watched for are writes; then mark a write."""
        at = np.ascontiguousarray(np.broadcast_to(at, lanes.size), np.int64)
        seen = np.zeros(lanes.size, np.bool_)
        for begin, width in site.pieces if site.action != "store" and (buffer is None or buffer.strict) else ():
            bad, used = np.zeros_like(seen), at if width == site.width else np.where((at < 0) | seen, -1, at + begin)
            if some_unwritten(flags, used, width, whole, bad):
                self._complain(site, lanes, np.flatnonzero(bad), used, width, flags, buffer)
                seen |= bad
        if site.action != "load":
            mark(flags, at, site.width)

    def _complain(
        self,
        site: Site,
        lanes: Lanes,
        bad: NDArray[np.intp],
        at: NDArray[np.int64],
        width: int,
        flags: NDArray[np.bool_],
        buffer: Buffer | None,
    ) -> None:
        first = int(at[bad[0]])
        first += int(np.argmin(flags[first : first + width])) if site.count > 1 else 0  # of a float4, the one
        if buffer is not None:
            name, where = buffer.name, place_of(buffer, first, site)
        else:
            space = self.machine.memory.shared if site.space == "shared" else self.machine.memory.local
            name, where, _ = space.describe(first % max(1, space.stride), site)
        what = f"reads {name}"
        message = f"{what}{where}, which nobody has written yet."
        self.machine.complain(
            "uninitialized", "error", site.place, lanes.part(bad), message, space=site.space, about=what
        )

    def finish(self, machine: Machine) -> None:
        """Outputs that the launch left without a value."""
        for index in self.watched:
            buffer = self.buffers[index]
            assert buffer.written is not None
            missing = np.flatnonzero(~buffer.written.reshape(-1, buffer.data.itemsize).all(axis=1))
            if missing.size:
                where = place_of(buffer, int(missing[0]) * buffer.data.itemsize)
                count = f"{missing.size:,} of {buffer.data.size:,}"
                message = f"{buffer.name}{where} was never written: {count} elements were not."
                machine.log.add(
                    Fault("unwritten", "warning", "global", "", 0, (), NOBODY, NOBODY, message, int(missing.size)),
                    buffer.name,
                )
