"""Who goes next: the lanes at the lowest step, so that those which parted meet again soon."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from convlab.emulator.lanes import Lanes, Residents

__all__ = ["Schedule"]

GROUPS = 8  # of warps, when their order is to vary

Key = tuple[int, int]  # group, step


class Schedule:
    """The sets of lanes that can go on, each at a step.

    Lanes that only have to end (at a step of ``ends``) do so at once: the others are then all that there are, and whole
    vectors go fastest. Lanes that jump back in vain let others go first: their *turn* grows, and the lowest turn goes
    first. With a ``seed`` the warps of a chunk are dealt into groups, and chance decides which one goes next.
    """

    def __init__(self, residents: Residents, seed: int | None = None, ends: Collection[int] = ()) -> None:
        self.residents = residents
        self.ends = ends
        self.waiting: dict[Key, tuple[int, Lanes]] = {}
        self.chance = None if seed is None else np.random.default_rng(seed)
        self.group = np.zeros(0, np.intp) if self.chance is None else self.chance.integers(0, GROUPS, residents.warps)
        self.vain: dict[Key, tuple[int, int]] = {}  # how many lanes jumped back to a step last, and how often

    def __len__(self) -> int:
        return len(self.waiting)

    def put(self, step: int, lanes: Lanes, turn: int = 0, group: int | None = None) -> None:
        """Lanes can go on at a step; when their group is not known, each warp goes to its own."""
        if group is None and self.chance is not None:
            for number, part in lanes.groups(self.group[lanes.warp]):
                self.put(step, part, turn, number)
            return
        key = (group or 0, step)
        if key in self.waiting:
            other, here = self.waiting[key]
            turn, lanes = max(turn, other), here.join(lanes)
        self.waiting[key] = turn, lanes

    def take(self) -> tuple[int, int, int, Lanes]:
        """The next set: its group, its step, its turn and its lanes."""
        waiting = self.waiting
        if len(waiting) == 1:
            key, (turn, lanes) = waiting.popitem()
            return *key, turn, lanes
        candidates = list(waiting)
        if self.chance is not None:
            groups = sorted({group for group, _ in candidates})
            lucky = groups[self.chance.integers(len(groups))]
            candidates = [key for key in candidates if key[0] == lucky]
        key = min(candidates, key=lambda each: (waiting[each][0], each[1] not in self.ends, each[1]))
        turn, lanes = waiting.pop(key)
        return *key, turn, lanes

    def only(self) -> tuple[int, int, Lanes] | None:
        """The only set, as its step, turn and lanes; ``None`` when there are several."""
        if len(self.waiting) != 1 or self.chance is not None:
            return None
        (((_, step), (turn, lanes)),) = self.waiting.items()
        return step, turn, lanes

    def impatient(self, group: int, step: int, lanes: Lanes, patience: int) -> bool:
        """Whether lanes that jump back to a step have done so in vain too often while others wait."""
        size, times = self.vain.get((group, step), (0, 0))
        times = times + 1 if size == lanes.size else 0
        self.vain[group, step] = lanes.size, times % patience
        return times >= patience and bool(self.waiting)
