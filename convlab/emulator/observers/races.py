"""The sanitizer's check of races in shared memory, from the order that barriers give, never from results.

Each unit of shared memory has a shadow: its last writer and two distinct readers, each with its thread, its epoch (how
often it had met others at a barrier), its warp epoch (``__syncwarp``) and its instruction. Two accesses of different
threads, one of them a write, are ordered when the later thread has met somebody since the earlier access.

Source: compute-sanitizer's documentation, "Racecheck"; two writers of the same value, and atomics among themselves, are
no race (as in Oclgrind).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from convlab.emulator.code import Meeting, Site, Step
from convlab.emulator.lanes import WARP, Lanes

__all__ = ["Races"]

LOAD, STORE, ATOMIC = 0, 1, 2
KINDS = ("", "RAW", "WAR", "WAW")
VERBS = {
    "RAW": "reads {what}, which thread {other} wrote",
    "WAR": "writes {what}, which thread {other} read",
    "WAW": "writes {what}, which thread {other} wrote",
}
# The shadow's columns: thread, epoch, warp epoch, instruction and strength of each.
WRITER, READER, SECOND = 0, 5, 10
COLUMNS = 15
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
        threads = machine.residents.number.size * machine.threads
        self.epoch = np.zeros(threads, np.int32)
        self.warp_epoch = np.zeros(threads, np.int32)
        self.group = np.zeros(threads, np.int32)  # of asynchronous copies: the one that is open
        self.now = 0
        units = machine.memory.shared.data.size // self.unit
        self.shadow = np.full((units, COLUMNS), -1, np.int32)
        self.values = np.zeros(units, np.uint32)

    def meeting(self, step: Step, meeting: Meeting, lanes: Lanes) -> None:
        """Barriers order accesses of all who met; of the exchanges within a warp only ``__syncwarp`` does."""
        if not self.active:
            return
        self.now += 1
        index = self._index(lanes)
        if meeting.barrier:
            self.epoch[index] = self.now
        elif step.instructions[0].parts[0] in ("bar", "barrier"):
            self.warp_epoch[index] = self.now

    def _index(self, lanes: Lanes) -> NDArray[np.intp]:
        index: NDArray[np.intp] = lanes.block * self.machine.threads + lanes.thread
        return index

    def commit(self, lanes: Lanes) -> None:
        """The open group of copies is closed."""
        if self.active:
            self.group[self._index(lanes)] += 1

    def wait(self, pending: int, lanes: Lanes) -> None:
        """All but the latest groups of these threads are done: their writes count from now on."""
        if self.active:
            done = np.full(self.group.size, -1, np.int32)
            index = self._index(lanes)
            done[index] = self.group[index] - pending - 1
            units = self.machine.memory.shared.stride // self.unit
            _settle(self.shadow, done, self.epoch, self.warp_epoch, self.machine.threads, units)

    def access(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...]) -> None:
        """Compare an access with the shadow, and enter it there."""
        if site.space != "shared" or not self.active:
            return
        address = np.broadcast_to(address, lanes.size).astype(np.int64)
        space = self.machine.memory.shared
        inside = (address >= 0) & (address <= space.size - site.width)
        at = np.where(inside, (address + lanes.block * space.stride) // self.unit, -1)
        kind = {"load": LOAD, "store": STORE, "atomic": ATOMIC}[site.action]
        index = self._index(lanes)
        who = np.stack([lanes.thread.astype(np.int32), self.epoch[index], self.warp_epoch[index]], axis=1)
        group = self.group[index] if site.asynchronous else np.full(lanes.size, -1, np.int32)
        found = np.zeros((lanes.size, 4), np.int32)
        new = self._units(site, values, lanes) if kind == STORE else np.zeros((1, 1), np.uint32)
        units = site.width // self.unit
        if _compare(kind, site.strength, at, units, who, group, site.index, new, self.shadow, self.values, found):
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
            name, element, _ = self.machine.memory.shared.describe(int(address[bad[0]]), site)
            other = self.machine.frames(self.machine.code.sites[other_site].place)[0][1]
            culprit = self.machine.thread(int(found[bad[0], 1]))
            text = VERBS[KINDS[kind]].format(what=f"{name}{element}", other=culprit)
            why = {
                0: "no barrier stands between",
                1: "no __syncwarp() stands between",
                2: "nobody waited for that copy",
            }
            message = f"{text} in line {other}: {why[warning]} ({KINDS[kind]})."
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
def _unordered(shadow: Any, column: int, thread: int, epoch: int, warp_epoch: int) -> int:
    """0 when an earlier access is by the same thread, or ordered; 1 when it is not; 2 when only the warp orders it."""
    other = shadow[column]
    if other < 0 or other == thread or shadow[column + 1] < epoch:
        return 0
    if other // WARP == thread // WARP:
        return 0 if shadow[column + 2] < warp_epoch else 2
    return 1


@njit(cache=True, nogil=True)
def _collision(row: Any, kind: int, strength: int, me: Any, site: int, same_value: bool) -> tuple[int, int, int]:
    """What an access collides with: the kind of race (0: none), the shadow's column of the other, and why it is one."""
    if row[WRITER] >= 0:
        state = _unordered(row, WRITER, me[0], me[1], me[2])
        pending = row[WRITER + 4] >= PENDING
        if pending and (kind == LOAD or row[WRITER] != me[0]):
            return (1 if kind == LOAD else 3), WRITER, 3  # even the thread that copies must wait for the copy
        if state == 2 and kind == STORE and row[WRITER + 3] == site:
            state = 1  # two lanes of one store: nothing orders them, not even the warp
        if state and row[WRITER + 4] + strength < EXCUSED and not (kind == STORE and same_value):
            return (1 if kind == LOAD else 3), WRITER, state
    if kind != LOAD:
        for reader in (READER, SECOND):
            state = _unordered(row, reader, me[0], me[1], me[2])
            if state and row[reader + 4] + strength < EXCUSED:
                return 2, reader, state
    return 0, 0, 0


@njit(cache=True, nogil=True)
def _compare(
    kind: int,
    strength: int,
    at: Any,
    units: int,
    who: Any,
    group: Any,
    site: int,
    new: Any,
    shadow: Any,
    values: Any,
    found: Any,
) -> int:
    """Enter the accesses of lanes into the shadow, one after the other; ``found`` gets what each collides with.

    The columns of ``found``: the kind of race, the other thread, its instruction, and why it is one.
    """
    count = 0
    for lane in range(at.size):
        if at[lane] < 0:
            continue
        me = who[lane]
        for n in range(units):
            unit = at[lane] + n
            row = shadow[unit]
            same = kind == STORE and values[unit] == new[lane, n]
            race, column, state = _collision(row, kind, strength, me, site, same)
            if race and found[lane, 0] == 0:
                found[lane, 0], found[lane, 1], found[lane, 2] = race, row[column], row[column + 3]
                found[lane, 3] = state - 1
                count += 1
            column = WRITER
            if kind == LOAD:
                column = READER
                if row[READER] >= 0 and row[READER] != me[0] and row[READER + 1] >= me[1]:
                    column = SECOND
            for k in range(3):
                row[column + k] = me[k]
            row[column + 3] = site
            row[column + 4] = PENDING + group[lane] if group[lane] >= 0 else strength
            if kind == STORE:
                values[unit] = new[lane, n]
    return count


@njit(cache=True, nogil=True)
def _settle(shadow: Any, done: Any, epoch: Any, warp_epoch: Any, threads: int, units_per_block: int) -> None:
    """Copies of groups up to ``done`` become writes of this moment."""
    for unit in range(shadow.shape[0]):
        row = shadow[unit]
        if row[WRITER] >= 0 and row[WRITER + 4] >= PENDING:
            thread = unit // units_per_block * threads + row[WRITER]
            if row[WRITER + 4] - PENDING <= done[thread]:
                row[WRITER + 1], row[WRITER + 2], row[WRITER + 4] = epoch[thread], warp_epoch[thread], 0
