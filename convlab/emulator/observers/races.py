"""The sanitizer's check of races in shared memory, from the order that barriers give, never from results.

Each unit of shared memory has a shadow: its last writer and two readers, each with its thread, its time, its
instruction and its strength. Two accesses of different threads, one of them a write, race when nothing orders them
(`order.py`).

Source: compute-sanitizer's documentation, "Racecheck"; two writers of the same value, and atomics among themselves, are
no race (as in Oclgrind).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.code import Site
from convlab.emulator.lanes import WARP, Lanes
from convlab.emulator.observers.order import (
    FENCE,
    RELEASE_TIME,
    RELEASED,
    SEEN,
    SEEN_TIME,
    UP_TO,
    Order,
    state_of,
)

__all__ = ["Races"]

LOAD, STORE, ATOMIC = 0, 1, 2
KINDS = ("", "RAW", "WAR", "WAW")
VERBS = {
    "RAW": "reads {what}, which thread {other} wrote",
    "WAR": "writes {what}, which thread {other} read",
    "WAW": "writes {what}, which thread {other} wrote",
}
WHY = ("no barrier stands between", "no __syncwarp() stands between", "nobody waited for that copy")
# The shadow's columns: thread, time, instruction and strength of each.
WRITER, READER, SECOND = 0, 4, 8
COLUMNS = 12
PENDING = 3  # as a strength: a write by cp.async, until somebody waits for it
EXCUSED = 3  # the sum of two strengths from which on there is no race: two atomics, or an atomic and a volatile access


class Races:
    """Watches shared memory."""

    def attach(self, machine: Any) -> None:
        """Choose the unit: 4 bytes, or less where narrower accesses occur."""
        self.machine = machine
        sizes = [site.dtype.itemsize for site in machine.code.sites if site.space == "shared"]
        self.unit = min([4, *sizes])
        self.active = bool(sizes) and machine.launch.shared_bytes > 0

    def start(self, machine: Any) -> None:
        """Nobody has accessed anything yet."""
        if not self.active:
            return
        self.order = Order(machine)
        self.group = np.zeros(machine.residents.number.size * machine.threads, np.int32)  # of copies: the open one
        units = machine.memory.shared.data.size // self.unit
        self.shadow = np.full((units, COLUMNS), -1, np.int32)
        self.values = np.zeros(units, np.uint32)

    def barrier(self, lanes: Lanes, keys: NDArray[np.intp]) -> None:
        """Threads go on from barriers: their accesses are ordered."""
        if self.active:
            self.order.meet(keys, lanes)

    def arrival(self, lanes: Lanes, keys: NDArray[np.intp]) -> None:
        """Threads arrive at barriers without waiting: what they did is ordered before what the others do then."""
        if self.active:
            self.order.arrive(keys, lanes)

    def syncwarp(self, lanes: Lanes, masks: NDArray[np.uint32]) -> None:
        """Of what the lanes of a warp do together, only ``__syncwarp`` orders accesses."""
        if self.active:
            self.order.meet_in_warp(masks, lanes)

    def fence(self, lanes: Lanes) -> None:
        """``__threadfence`` and its like, which a lock needs."""
        if self.active:
            self.order.fence(lanes)

    def commit(self, lanes: Lanes) -> None:
        """The open group of copies is closed."""
        if self.active:
            self.group[self.order.index(lanes)] += 1

    def wait(self, pending: int, lanes: Lanes) -> None:
        """All but the latest groups of these threads are done: their writes count from now on."""
        if self.active:
            done = np.full(self.group.size, -1, np.int32)
            index = self.order.index(lanes)
            done[index] = self.group[index] - pending - 1
            units = self.machine.memory.shared.stride // self.unit
            _settle(self.shadow, done, self.order.tick(), self.machine.threads, units)

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """Compare an access with the shadow, and enter it there."""
        if site.space != "shared" or not self.active:
            return
        address = np.broadcast_to(address, lanes.size).astype(np.int64)
        space, order = self.machine.memory.shared, self.order
        inside = (address >= 0) & (address <= space.size - site.width)
        at = np.where(inside, (address + lanes.block * space.stride) // self.unit, -1)
        kind = {"load": LOAD, "store": STORE, "atomic": ATOMIC}[site.action]
        found = np.zeros((lanes.size, 5), np.int32)
        new = self._units(site, values, lanes) if kind == STORE else np.zeros((1, 1), np.uint32)
        group = self.group[order.index(lanes)] if site.asynchronous else np.full(lanes.size, -1, np.int32)
        me = (order.tick(), kind, site.strength, site.index, site.width // self.unit, self.machine.threads)
        clocks = (order.warps, order.lanes, order.words)
        if _compare(me, at, lanes.thread, lanes.block, group, new, clocks, self.shadow, self.values, found):
            self._complain(site, address, lanes, found)

    def _units(self, site: Site, values: tuple[Any, ...], lanes: Lanes) -> NDArray[np.uint32]:
        """What each lane writes to each unit."""
        rows = np.empty((lanes.size, site.count), site.dtype)
        for n, value in enumerate(values):
            rows[:, n] = value
        return rows.view(f"u{self.unit}").astype(np.uint32)

    def _complain(self, site: Site, address: NDArray[np.int64], lanes: Lanes, found: NDArray[np.int32]) -> None:
        """One fault for each kind, line of the other access, and severity."""
        for kind, other_site, warning in np.unique(found[found[:, 0] > 0][:, [0, 2, 3]], axis=0).tolist():
            bad = np.flatnonzero((found[:, 0] == kind) & (found[:, 2] == other_site) & (found[:, 3] == warning))
            place = int(address[bad[0]]) + int(found[bad[0], 4]) * self.unit
            name, element, _ = self.machine.memory.shared.describe(place, site)
            other = self.machine.frames(self.machine.code.sites[other_site].place)[0][1]
            culprit = self.machine.thread(int(found[bad[0], 1]))
            text = VERBS[KINDS[kind]].format(what=f"{name}{element}", other=culprit)
            message = f"{text} in line {other}: {WHY[warning]} ({KINDS[kind]})."
            self.machine.complain(
                "race",
                "warning" if warning == 1 else "error",
                site.place,
                lanes.part(bad),
                message,
                other,
                space="shared",
                about=f"{KINDS[kind]} {name} {other} {warning}",
            )


@njit(cache=True, nogil=True)
def _collision(row: Any, me: Any, thread: int, block: int, same_value: bool, clocks: Any) -> tuple[int, int, int]:
    """What an access collides with: the kind of race (0: none), the shadow's column of the other, and why it is one."""
    _, kind, strength, site, _, threads = me
    if row[WRITER] >= 0:
        state = state_of(row[WRITER], row[WRITER + 1], thread, block, threads, *clocks)
        pending = row[WRITER + 3] >= PENDING
        if pending and (kind == LOAD or row[WRITER] != thread):
            return (1 if kind == LOAD else 3), WRITER, 3  # even the thread that copies must wait for the copy
        if state == 2 and kind == STORE and row[WRITER + 2] == site and row[WRITER + 1] == me[0]:
            state = 1  # two lanes of one store: nothing orders them, not even the warp
        if state and row[WRITER + 3] + strength < EXCUSED and not (kind == STORE and same_value):
            return (1 if kind == LOAD else 3), WRITER, state
    if kind != LOAD:
        for reader in (READER, SECOND):
            state = state_of(row[reader], row[reader + 1], thread, block, threads, *clocks)
            if state and row[reader + 3] + strength < EXCUSED:
                return 2, reader, state
    return 0, 0, 0


@njit(cache=True, nogil=True)
def _place_of_reader(row: Any, thread: int, block: int, threads: int, clocks: Any) -> int:
    """The column in which to enter a reader: one whose reader is ordered before it; the two should be of two warps."""
    if state_of(row[READER], row[READER + 1], thread, block, threads, *clocks) == 0:
        return READER
    second = state_of(row[SECOND], row[SECOND + 1], thread, block, threads, *clocks) == 0
    return SECOND if second or row[SECOND] // WARP == row[READER] // WARP else -1


@njit(cache=True, nogil=True)
def _compare(
    me: Any,
    at: Any,
    threads: Any,
    blocks: Any,
    group: Any,
    new: Any,
    clocks: Any,
    shadow: Any,
    values: Any,
    found: Any,
) -> int:
    """Enter the accesses of lanes into the shadow, one after the other; ``found`` gets what each collides with.

    ``me`` is what all have in common: time, kind, strength, instruction, units, threads of a block. The columns of
    ``found``: the kind of race, the other thread, its instruction, why it is one, and the unit of the access.
    """
    time, kind, strength, site, units, threads_per_block = me
    words = clocks[2]
    count = 0
    for lane in range(at.size):
        if at[lane] < 0:
            continue
        thread, block = threads[lane], blocks[lane]
        mine = words[block * threads_per_block + thread]
        if strength and kind != STORE:  # an atomic or volatile read sees what was released to this word
            mine[SEEN], mine[SEEN_TIME] = at[lane], time
        for n in range(units):
            unit = at[lane] + n
            row = shadow[unit]
            same = kind == STORE and values[unit] == new[lane, n]
            race, column, state = _collision(row, me, thread, block, same, clocks)
            if race and found[lane, 0] == 0:
                found[lane, 0], found[lane, 1], found[lane, 2] = race, row[column], row[column + 2]
                found[lane, 3], found[lane, 4] = state - 1, n
                count += 1
            column = WRITER if kind != LOAD else _place_of_reader(row, thread, block, threads_per_block, clocks)
            if column >= 0:
                row[column], row[column + 1], row[column + 2] = thread, time, site
                row[column + 3] = PENDING + group[lane] if group[lane] >= 0 else strength
            if kind == STORE:
                values[unit] = new[lane, n]
        if strength and kind != LOAD:
            mine[RELEASED], mine[UP_TO], mine[RELEASE_TIME] = at[lane], mine[FENCE], time
    return count


@njit(cache=True, nogil=True)
def _settle(shadow: Any, done: Any, now: int, threads: int, units_per_block: int) -> None:
    """Copies of groups up to ``done`` become writes of this moment."""
    for unit in range(shadow.shape[0]):
        row = shadow[unit]
        if row[WRITER] >= 0 and row[WRITER + 3] >= PENDING:
            thread = unit // units_per_block * threads + row[WRITER]
            if row[WRITER + 3] - PENDING <= done[thread]:
                row[WRITER + 1], row[WRITER + 3] = now, 0
