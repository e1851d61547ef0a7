"""What a nest moves on a machine, by tensor and level, and what that costs: the same record from both counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from convlab.dataflow.array import TENSORS, Array
from convlab.reference.checks import argument_error

__all__ = ["MEMORIES", "Counts", "Traffic"]

MEMORIES = ("dram", "buffer", "array", "register")


@dataclass(frozen=True, slots=True)
class Traffic:
    """Words of one tensor at one level.

    ``reads`` leave the level, ``writes`` enter it. At the array, ``moves`` is words of x and w that PEs take, and sums
    that go from a PE to the next; ``multicasts`` is the moves that needed no read of their own. ``resumed`` is partial
    sums that waited at the level and were taken up again there.
    """

    reads: int = 0
    writes: int = 0
    moves: int = 0
    multicasts: int = 0
    resumed: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """All that is counted: ``traffic`` by (tensor, level), multiply-adds, cycles, and the array they are from.

    ``held`` is the most words that one PE's registers and the buffer had to hold, by (tensor, level).
    """

    array: Array
    macs: int
    cycles: int
    traffic: Mapping[tuple[str, str], Traffic]
    held: Mapping[tuple[str, str], int] = field(default_factory=dict, compare=False)

    def __getitem__(self, key: tuple[str, str]) -> Traffic:
        if key not in self.traffic:
            fact = f"Nothing is counted by the name of {key!r}"
            fix = f'counts["x", "buffer"]: a tensor, {", ".join(TENSORS)}, and a level, {", ".join(MEMORIES)}'
            raise argument_error(fact, "Counts", f"Write {fix}")
        return self.traffic[key]

    @property
    def utilisation(self) -> float:
        """The part of all PEs' cycles that multiplies: 1 were best."""
        return self.macs / (self.cycles * self.array.pes)

    @property
    def energies(self) -> dict[tuple[str, str], float]:
        """Energy by (tensor, level), multiply-adds as ("mac", "mac"), in reads of a register.

        As in the Eyeriss paper, section VI: a word of x or w is charged where it is read, not where it arrives, and
        not at all for its first use in a PE, as it comes; a partial sum once for waiting and once for being taken up
        again; a finished sum for its way to DRAM.
        """
        costs = self.array.costs
        by_level = {
            "dram": lambda tensor, t: costs.dram * (t.reads + t.writes),
            "buffer": lambda tensor, t: costs.buffer * (2 * t.resumed if tensor == "y" else t.reads),
            "array": lambda tensor, t: costs.neighbour * t.moves,
            "register": lambda tensor, t: costs.register * (2 * t.resumed if tensor == "y" else t.reads - t.writes),
        }
        moved = {(tensor, level): by_level[level](tensor, traffic) for (tensor, level), traffic in self.traffic.items()}
        return {**moved, ("mac", "mac"): costs.mac * self.macs}

    @property
    def energy(self) -> float:
        """Energy of everything, in reads of a register."""
        return sum(self.energies.values())

    def reuse(self, tensor: str, level: str) -> float:
        """Multiply-adds for each word that a level gives (x, w) or takes (y); at the array, for each that moves."""
        traffic = self[tensor, level]
        words = traffic.moves if level == "array" else traffic.writes if tensor == "y" else traffic.reads
        return self.macs / words if words else float("inf")

    def __str__(self) -> str:
        head = f"{self.macs:,} multiply-adds in {self.cycles:,} cycles, {self.utilisation:.0%} of {self.array.pes} PEs"
        rows = [["", *MEMORIES]]
        for tensor in TENSORS:
            cells = {level: self.traffic[tensor, level] for level in MEMORIES}
            rows.append([tensor, *(_cell(level, each) for level, each in cells.items())])
        width = max(22, *(len(cell) + 2 for row in rows for cell in row))
        table = [f"{name:10}" + "".join(cell.rjust(width) for cell in cells) for name, *cells in rows]
        return "\n".join(
            [head, *table, f"energy {self.energy:,.0f}, {self.energy / self.macs:.2f} for each multiply-add"]
        )


def _cell(level: str, traffic: Traffic) -> str:
    """Reads and writes of a memory; between PEs, what moves."""
    return f"{traffic.moves:,}" if level == "array" else f"{traffic.reads:,} / {traffic.writes:,}"
