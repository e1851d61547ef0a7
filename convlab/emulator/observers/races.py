"""The sanitizer's check of races in shared memory, from the order that barriers give, never from results.

Each unit of shared memory has a shadow: two writers and two readers, each with its thread, its time, its instruction
and its strength. Two accesses of different threads, one of them a write, race when nothing orders them (`order.py`).
Two are enough to see whether there is a race: of two in different warps, one is in another warp than any third. (Only
where named barriers order some of the warps can what a third did be forgotten.)

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
from convlab.emulator.machine import Machine
from convlab.emulator.observers.order import (
    FENCE,
    RELEASE_TIME,
    RELEASED,
    SEEN,
    SEEN_FROM,
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
# The shadow's columns: two writers and two readers, of each the thread, the time, the instruction, the strength and the
# value. Until somebody waits for it, a write by cp.async is weaker than all others: −1 − its group.
WRITERS, READERS, COLUMNS = 0, 10, 20
ENTRY = 5
ATOMIC_STRENGTH = 2
EXCUSED = 3  # the sum of two strengths from which on there is no race: two atomics, or an atomic and a volatile access


class Races:
    """Watches shared memory."""

    def attach(self, machine: Machine) -> None:
        """Choose the unit: 4 bytes, or less where narrower accesses occur."""
        self.machine = machine
        sizes = [site.dtype.itemsize for site in machine.code.sites if site.space == "shared"]
        self.unit = min([4, *sizes])
        self.active = bool(sizes) and machine.launch.shared_bytes > 0

    def start(self, machine: Machine) -> None:
        """Nobody has accessed anything yet."""
        if not self.active:
            return
        self.order = Order(machine)
        self.group = np.zeros(machine.residents.number.size * machine.threads, np.int32)  # of copies: the open one
        units = machine.memory.shared.data.size // self.unit
        self.shadow = np.full((units, COLUMNS), -1, np.int32)

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
        kind = {"load": LOAD, "store": STORE, "atomic": ATOMIC}[site.action]
        new = self._units(site, values, lanes) if kind == STORE else np.zeros((1, 1), np.int32)
        strength = np.full(lanes.size, site.strength, np.int32)
        if site.asynchronous:
            strength = -1 - self.group[order.index(lanes)]
        time, clocks = order.tick(), (order.since, order.warps, order.lanes, order.words)
        for begin, width in site.pieces:
            at = np.where(inside, (address + lanes.block * space.stride + begin) // self.unit, -1)
            found = np.zeros((lanes.size, 5), np.int32)
            me = (time, kind, site.index, width // self.unit, self.machine.threads)
            if _compare(me, at, lanes.thread, lanes.block, strength, new, *clocks, self.shadow, found):
                self._complain(site, address + begin, lanes, found)

    def _units(self, site: Site, values: tuple[Any, ...], lanes: Lanes) -> NDArray[np.int32]:
        """What each lane writes to each unit."""
        rows = np.empty((lanes.size, site.count), site.dtype)
        for n, value in enumerate(values):
            rows[:, n] = value
        return rows.view(f"u{self.unit}").astype(np.uint32).view(np.int32)

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
def _collision(
    shadow: Any,
    unit: int,
    me: Any,
    thread: int,
    block: int,
    strength: int,
    value: int,
    since: int,
    warps: Any,
    lanes: Any,
    words: Any,
) -> tuple[int, int]:
    """What an access collides with: the shadow's column, and why (0: nothing); a missing barrier before all else."""
    time, kind, site, _, threads = me
    found, why = 0, 0
    for column in range(WRITERS, COLUMNS if kind != LOAD else READERS, ENTRY):
        other, when, its_strength = shadow[unit, column], shadow[unit, column + 1], shadow[unit, column + 3]
        if other < 0:
            continue
        written = column < READERS
        same = written and kind == STORE and shadow[unit, column + 4] == value and its_strength < ATOMIC_STRENGTH
        state = state_of(other, when, since, thread, block, threads, warps, lanes, words)
        if written and its_strength < 0:  # even the thread that copies must wait for the copy before it reads
            state = 3 * (kind == LOAD or other != thread)
        elif max(0, strength) + its_strength >= EXCUSED or same:
            state = 0
        elif state == 2 and written and kind == STORE and shadow[unit, column + 2] == site and when == time:
            state = 1  # two lanes of one store: nothing orders them, not even the warp
        if state and why in (0, 2):
            found, why = column, state
    return found, why


@njit(cache=True, nogil=True)
def _column(
    shadow: Any,
    unit: int,
    first: int,
    thread: int,
    block: int,
    strength: int,
    threads: int,
    since: int,
    warps: Any,
    lanes: Any,
    words: Any,
) -> int:
    """Where to enter an access: over one that it stands for; −1 when both say more, being weaker or of two warps."""
    second, warp = first + ENTRY, thread // WARP
    for column in (first, second):
        other, when = shadow[unit, column], shadow[unit, column + 1]
        if other < 0:
            return column
        ordered = state_of(other, when, since, thread, block, threads, warps, lanes, words) == 0
        if ordered and shadow[unit, column + 3] >= strength:
            return column
    for column in (first, second):  # weaker, but from before a barrier
        if warps[block, warp, shadow[unit, column] // WARP] > shadow[unit, column + 1]:
            return column
    if shadow[unit, first] // WARP == shadow[unit, second] // WARP != warp:
        return second
    strong, weak = (first, second) if shadow[unit, first + 3] > shadow[unit, second + 3] else (second, first)
    known = shadow[unit, weak] // WARP == warp and shadow[unit, weak + 3] <= strength
    return strong if shadow[unit, strong + 3] > strength and not known else -1


@njit(cache=True, nogil=True, inline="always")
def _news(shadow: Any, unit: int, time: int, warp: int) -> int:
    """What a read adds to those of this very instruction: 0 nothing, 1 its own order, 2 a reader to enter as well."""
    news = 2
    if shadow[unit, READERS + 1] == time and shadow[unit, READERS + ENTRY + 1] == time:
        first, second = shadow[unit, READERS] >> 5, shadow[unit, READERS + ENTRY] >> 5
        if first != second:  # two warps are there already
            news = 1
        elif first == warp:  # two lanes of this warp
            news = 0
    return news


@njit(cache=True, nogil=True)
def _see(shadow: Any, unit: int, words: Any, first: int, thread: int, time: int) -> None:
    """An atomic or volatile read sees what its latest writer released to this word."""
    latest = WRITERS if shadow[unit, WRITERS + 1] >= shadow[unit, WRITERS + ENTRY + 1] else WRITERS + ENTRY
    writer = shadow[unit, latest]
    if writer >= 0 and words[first + writer, RELEASED] == unit:
        mine = first + thread
        words[mine, SEEN], words[mine, SEEN_TIME], words[mine, SEEN_FROM] = unit, time, writer


@njit(cache=True, nogil=True)
def _compare(
    me: Any,
    at: Any,
    threads: Any,
    blocks: Any,
    strengths: Any,
    new: Any,
    since: Any,
    warps: Any,
    lanes: Any,
    words: Any,
    shadow: Any,
    found: Any,
) -> int:
    """Enter the accesses of lanes into the shadow, one after the other; ``found`` gets what each collides with.

    ``me`` is what all have in common: time, kind, instruction, units, threads of a block. The columns of ``found``: the
    kind of race, the other thread, its instruction, why it is one, and the unit of the access.
    """
    time, kind, site, units, threads_per_block = me
    count = 0
    for lane in range(at.size):
        if at[lane] < 0:
            continue
        thread, block, strength = threads[lane], blocks[lane], strengths[lane]
        first, fresh = block * threads_per_block, since[block]
        if strength > 0 and kind != STORE:
            _see(shadow, at[lane], words, first, thread, time)
        for n in range(units):
            unit = at[lane] + n
            news = _news(shadow, unit, time, thread >> 5) if kind == LOAD else 2
            if news == 0:
                continue
            value = new[lane, n] if kind == STORE else 0
            column, why = _collision(shadow, unit, me, thread, block, strength, value, fresh, warps, lanes, words)
            if why and found[lane, 0] == 0:
                found[lane, 0] = 1 if kind == LOAD else 3 if column < READERS else 2
                found[lane, 1], found[lane, 2] = shadow[unit, column], shadow[unit, column + 2]
                found[lane, 3], found[lane, 4] = why - 1, n
                count += 1
            if news == 1:
                continue
            entries = READERS if kind == LOAD else WRITERS
            column = _column(
                shadow, unit, entries, thread, block, strength, threads_per_block, fresh, warps, lanes, words
            )
            if column >= 0:
                shadow[unit, column], shadow[unit, column + 1], shadow[unit, column + 2] = thread, time, site
                shadow[unit, column + 3], shadow[unit, column + 4] = strength, value
        if strength > 0 and kind != LOAD:
            mine = first + thread
            words[mine, RELEASED], words[mine, UP_TO], words[mine, RELEASE_TIME] = at[lane], words[mine, FENCE], time
    return count


@njit(cache=True, nogil=True)
def _settle(shadow: Any, done: Any, now: int, threads: int, units_per_block: int) -> None:
    """Copies of groups up to ``done`` become writes of this moment."""
    for unit in range(shadow.shape[0]):
        for column in (WRITERS, WRITERS + ENTRY):
            if shadow[unit, column] >= 0 and shadow[unit, column + 3] < 0:
                thread = unit // units_per_block * threads + shadow[unit, column]
                if -1 - shadow[unit, column + 3] <= done[thread]:
                    shadow[unit, column + 1], shadow[unit, column + 3] = now, 0
