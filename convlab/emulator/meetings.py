"""Meetings: lanes that wait for others, of their block at a barrier, of their warp before they exchange values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator import blocks
from convlab.emulator.code import Complain, Meeting, Step
from convlab.emulator.lanes import WARP, Lanes, Residents
from convlab.emulator.observers import Hooks

__all__ = ["BARRIERS", "Meetings"]

BARRIERS = 16  # of a block
EVERYBODY = 0xFFFFFFFF

Ready = tuple[int, Lanes]  # lanes that may run a step now


class Meetings:
    """Who waits where in a chunk.

    A lane that waits has the number of its step in ``at``; at a barrier also the barrier's key, which is its block and
    its number, and how many threads it takes; before an exchange the mask of the lanes it waits for.
    """

    def __init__(self, residents: Residents, steps: list[Step], complain: Complain, hooks: Hooks) -> None:
        self.residents = residents
        self.steps = steps
        self.complain = complain
        self.hooks = hooks
        self.alive = np.ones(residents.size, np.bool_)
        self.at = np.full(residents.size, -1)
        self.key = np.zeros(residents.size, np.intp)
        self.count = np.zeros(residents.size, np.intp)
        self.mask = np.zeros(residents.size, np.uint32)
        self.arrived = np.zeros(residents.number.size * BARRIERS, np.intp)  # by bar.arrive, without waiting
        self.waiting = 0

    def keep(self, index: NDArray[np.intp]) -> None:
        """Forget all lanes but these; nobody waits."""
        self.alive = self.alive.take(index)
        self.at, self.key, self.count = self.at.take(index), self.key.take(index), self.count.take(index)
        self.mask = self.mask.take(index)

    def end(self, lanes: Lanes) -> None:
        """These threads have ended: nobody waits for them any longer."""
        self.alive[lanes.slots] = False

    def arrive(self, step: int, meeting: Meeting, registers: list[Any], lanes: Lanes) -> list[Ready]:
        """Lanes reach a meeting; returns those, perhaps of others as well, who may go on."""
        who = meeting.who.of(registers, lanes)
        if meeting.barrier:
            return self._at_barrier(step, meeting, who, meeting.count and meeting.count.of(registers, lanes), lanes)
        if lanes.index is None and not who.ndim and who == EVERYBODY:
            self._met(step, lanes, np.full(lanes.size, who))
            return [(step, lanes)]
        return self._before_exchange(step, who, lanes)

    def _met(self, step: int, lanes: Lanes, masks: NDArray[np.uint32] | None = None) -> None:
        """Tell the observers that these lanes have met at a step, and, of ``__syncwarp``, with whom."""
        meeting = self.steps[step].meeting
        for tell in self.hooks["meeting"]:
            tell(self.steps[step], meeting, lanes)
        if masks is not None and self.steps[step].instructions[0].parts[0] in blocks.BARRIERS:
            for tell in self.hooks["syncwarp"]:
                tell(lanes, masks)

    def _tell(self, what: str, lanes: Lanes, keys: NDArray[np.intp]) -> None:
        """Tell the observers who arrives at barriers, or goes on from them."""
        for tell in self.hooks[what]:
            tell(lanes, keys)

    # Barriers

    def _at_barrier(self, step: int, meeting: Meeting, number: Any, count: Any, lanes: Lanes) -> list[Ready]:
        if lanes.index is None and not number.ndim and count is None and not meeting.arrive and not self.arrived.any():
            self._warn_of_ended(step, lanes)
            self._tell("barrier", lanes, lanes.block * BARRIERS + int(number) % BARRIERS)
            self._met(step, lanes)
            return [(step, lanes)]
        key = lanes.block * BARRIERS + number.astype(np.intp) % BARRIERS
        if count is not None and np.any(count % WARP):
            message = f"takes {int(np.max(count))} threads to this barrier, which is no multiple of {WARP}."
            self.complain("barrier", "error", self.steps[step].place, lanes, message)
        if meeting.arrive:
            self._tell("arrival", lanes, key)
            np.add.at(self.arrived, key, 1)
            self._put(lanes, -1, key, count)
            return [(step, lanes), *self._complete()]
        self._put(lanes, step, key, 0 if count is None else count)
        self.waiting += lanes.size
        return self._complete()

    def _put(self, lanes: Lanes, step: int, key: Any, count: Any) -> None:
        slots = lanes.slots
        self.at[slots], self.key[slots], self.count[slots] = step, key, count

    def _complete(self) -> list[Ready]:
        """The lanes at all barriers that have as many threads as they take."""
        here = np.flatnonzero((self.at >= 0) & (self.mask == 0))
        if not here.size:
            return []
        size = self.arrived.size
        present = np.bincount(self.key[here], minlength=size) + self.arrived
        live = np.bincount(self.residents.block[self.alive], minlength=size // BARRIERS)
        wanted = np.where(self.count[here] > 0, self.count[here], live[self.key[here] // BARRIERS])
        done = here[present[self.key[here]] >= wanted]
        self.arrived[np.unique(self.key[done])] = 0
        return list(self._release(done))

    def _release(self, slots: NDArray[np.intp]) -> Iterator[Ready]:
        """Let lanes go on, each at its own step; threads of one barrier that stand at different ones are a fault."""
        if not slots.size:
            return
        self.waiting -= slots.size
        steps = self.at[slots]
        self.at[slots] = -1
        self._compare(slots, steps)
        self._tell("barrier", Lanes(slots, self.residents), self.key[slots])
        uncounted = self.count[slots] == 0
        if uncounted.any():
            self._warn_of_ended(steps[uncounted], Lanes(slots[uncounted], self.residents))
        for step in np.unique(steps).tolist():
            lanes = self.residents.at(slots[steps == step])
            self._met(step, lanes)
            yield step, lanes

    def _compare(self, slots: NDArray[np.intp], steps: NDArray[np.intp]) -> None:
        """All threads of a block must meet at the same barrier of the text, unless they are counted."""
        uncounted = self.count[slots] == 0
        first = np.zeros(self.residents.number.size, np.intp)
        first[self.residents.block[slots][::-1]] = steps[::-1]
        for step in np.unique(steps).tolist():
            odd = slots[uncounted & (steps == step) & (first[self.residents.block[slots]] != step)]
            if odd.size:
                other = self.steps[int(first[self.residents.block[odd[0]]])].place
                message = f"is at this barrier, while other threads of its block are at that of line {other.line}."
                self.complain(
                    "barrier", "error", self.steps[step].place, Lanes(odd, self.residents), message, other.line
                )

    def _warn_of_ended(self, steps: Any, lanes: Lanes) -> None:
        """A barrier that ended threads skipped completes on Volta and later, and hangs on older GPUs."""
        residents = self.residents
        if lanes.size == residents.number.size * residents.threads:
            return
        here = np.bincount(lanes.block, minlength=residents.number.size)
        short = np.flatnonzero((here > 0) & (here < residents.threads))
        if short.size:
            block = int(short[0])
            first = np.flatnonzero(lanes.block == block)[:1]
            place = self.steps[int(np.broadcast_to(steps, lanes.size)[first[0]])].place
            ended = residents.threads - here[block]
            message = f"waits at this barrier, which {ended} threads of its block skipped: they have ended."
            self.complain("barrier", "warning", place, lanes.part(first), message)

    # Exchanges within a warp

    def _before_exchange(self, step: int, mask: Any, lanes: Lanes) -> list[Ready]:
        """Lanes wait until all lanes of their mask that have not ended are here."""
        mask = np.broadcast_to(mask, lanes.size).astype(np.uint32)
        left_out = np.flatnonzero((mask >> lanes.lane.astype(np.uint32) & np.uint32(1)) == 0)
        if left_out.size:
            message = f"calls with the mask {int(mask[left_out[0]]):#x}, in which its own lane is missing."
            self.complain("shuffle", "error", self.steps[step].place, lanes.part(left_out), message)
            mask = mask | np.uint32(1) << lanes.lane.astype(np.uint32)
        slots = lanes.slots
        self.at[slots], self.mask[slots] = step, mask
        self.waiting += lanes.size
        here = self._exchanging(step)
        return list(self._exchange(step, here[self._missing(here) == 0]))

    def _exchanging(self, step: int) -> NDArray[np.intp]:
        """The lanes that wait for others at a step before they exchange values."""
        return np.flatnonzero((self.at == step) & (self.mask != 0))

    def _missing(self, here: NDArray[np.intp]) -> NDArray[np.uint32]:
        """For each waiting lane of one step the lanes of its mask that are alive and not here."""
        present = self._bits(here)
        live = self._bits(np.flatnonzero(self.alive))
        warp = self.residents.warp[here]
        missing: NDArray[np.uint32] = self.mask[here] & live[warp] & ~present[warp]
        return missing

    def _bits(self, slots: NDArray[np.intp]) -> NDArray[np.uint32]:
        """For each warp one bit for each of these lanes."""
        residents = self.residents
        sums = np.bincount(residents.warp[slots], np.exp2(residents.lane[slots]), residents.warps)
        bits: NDArray[np.uint32] = sums.astype(np.uint32)
        return bits

    def _exchange(self, step: int, slots: NDArray[np.intp]) -> Iterator[Ready]:
        if not slots.size:
            return
        self.waiting -= slots.size
        masks = self.mask[slots]
        self.at[slots], self.mask[slots] = -1, 0
        lanes = self.residents.at(slots)
        self._met(step, lanes, masks)
        yield step, lanes

    # When nobody can go on

    def after_ends(self) -> list[Ready]:
        """Those who waited only for threads that have ended since."""
        if not self.waiting:
            return []
        ready = self._complete()
        for step in np.unique(self.at[(self.at >= 0) & (self.mask != 0)]).tolist():
            here = self._exchanging(step)
            ready += self._exchange(step, here[self._missing(here) == 0])
        return ready

    def give_up(self) -> list[Ready]:
        """Everybody waits, and nobody will come: a fault. Lanes before an exchange go on without the others."""
        exchanging = np.flatnonzero((self.at >= 0) & (self.mask != 0))
        if exchanging.size:
            step = int(self.at[exchanging[0]])
            here = self._exchanging(step)
            missing = self._missing(here)
            lane = int(missing[missing != 0][0])
            absent = (lane & -lane).bit_length() - 1
            message = f"waits for lane {absent} of its mask {int(self.mask[here[0]]):#x}, which never comes here."
            self.complain("shuffle", "error", self.steps[step].place, Lanes(here, self.residents), message)
            return list(self._exchange(step, here))
        stuck = np.flatnonzero(self.at >= 0)
        step = int(self.at[stuck[0]])
        others = sorted(
            {self.steps[s].place.line for s in np.unique(self.at[stuck]).tolist()} - {self.steps[step].place.line}
        )
        rest = f" Others wait at line {others[0]}." if others else ""
        message = f"waits at this barrier for threads that never come: a deadlock.{rest}"
        line = others[0] if others else None
        self.complain("barrier", "error", self.steps[step].place, Lanes(stuck[:1], self.residents), message, line)
        return []
