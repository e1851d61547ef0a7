"""What every PE does in every cycle of a run: whose values it holds, what it multiplies, what moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from convlab.dataflow.array import Array

__all__ = ["PE", "Address", "Cycle", "Move", "Recorder", "Work"]

Address = tuple[int, ...]
PE = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Move:
    """One word on its way: from and to "dram", "buffer" or a PE (row, column); x, w and y are addressed as arrays."""

    tensor: str
    address: Address
    source: str | PE
    target: str | PE


@dataclass(frozen=True, slots=True)
class Work:
    """One multiply-add: the three elements (``x`` is None for padding), both factors, and the sum after it."""

    x: Address | None
    w: Address
    y: Address
    factors: tuple[float, float]
    total: float


@dataclass(slots=True)
class Cycle:
    """One cycle: ``indices`` of the loops above the registers, ``advanced`` the outermost of them that has just moved.

    ``work`` is by PE (row, column), and so is ``held``: the addresses that its registers hold, by tensor. ``advanced``
    is a position in the nest's ``order``, None where no loop above the registers has moved.
    """

    number: int
    indices: tuple[int, ...] = ()
    advanced: int | None = None
    moves: list[Move] = field(default_factory=list)
    work: dict[PE, Work] = field(default_factory=dict)
    held: dict[PE, Mapping[str, tuple[Address, ...]]] = field(default_factory=dict)


class Recorder:
    """Collects the cycles of a run; in a systolic array, a PE is a cycle behind its left and its upper neighbour."""

    def __init__(self, array: Array) -> None:
        self.systolic = array.network == "systolic"
        self.cycle: defaultdict[int, Cycle] = defaultdict(lambda: Cycle(0))
        self.now = self.length = 0

    def step(self, indices: tuple[int, ...], advanced: int, cycles: int) -> None:
        """A step begins: what the loops above the registers stand at, and how many cycles it takes."""
        self.now, self.length = self.now + self.length, cycles
        for number in range(self.now, self.now + cycles):
            self.cycle[number].indices = indices
        self.cycle[self.now].advanced = advanced

    def finish(self) -> None:
        """All work is done: what moves now is the last results."""
        self.now, self.length = self.now + self.length, 0

    def move(self, tensor: str, address: Address, source: str | PE, target: str | PE) -> None:
        """A word moves as the step begins."""
        place = target if isinstance(target, tuple) else source
        self.cycle[self._at(0, place)].moves.append(Move(tensor, address, source, target))

    def work(self, within: int, pe: PE, work: Work) -> None:
        """A PE multiplies in one of the step's cycles."""
        self.cycle[self._at(within, pe)].work[pe] = work

    def hold(self, pe: PE, held: Mapping[str, Iterable[Address]]) -> None:
        """What a PE's registers hold during the step."""
        shown = {tensor: tuple(sorted(addresses)) for tensor, addresses in held.items()}
        for within in range(self.length):
            self.cycle[self._at(within, pe)].held[pe] = shown

    def cycles(self) -> tuple[Cycle, ...]:
        """All cycles in order."""
        for number, cycle in self.cycle.items():
            cycle.number = number
        return tuple(self.cycle[number] for number in sorted(self.cycle))

    def _at(self, within: int, place: str | PE) -> int:
        return self.now + within + (sum(place) if self.systolic and isinstance(place, tuple) else 0)
