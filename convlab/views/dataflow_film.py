"""The cycles of an executed nest as steps of a picture: what each PE holds and multiplies, and what moves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from convlab.dataflow.array import TENSORS
from convlab.dataflow.counts import MEMORIES
from convlab.dataflow.executor import Execution
from convlab.dataflow.nest import SPATIAL
from convlab.dataflow.trace import PE, Address, Cycle, Move, Work
from convlab.views.dataflow_panels import SLOTS, Board
from convlab.views.dataflow_tensors import KINDS
from convlab.views.grid import Frame, Ids, number_text
from convlab.views.words import count_text

__all__ = ["Tally", "Way", "film", "loop_notes", "moved_by_loop"]

Levels = tuple[str, str]  # a tensor, and a level
Way = tuple[str, str, str]  # a tensor, and where its word goes from and to: "dram", "buffer" or "PE"
_number = lru_cache(maxsize=1024)(number_text)  # the same numbers stand in step after step
_PLACES = {"dram": "DRAM", "buffer": "buffer", "PE": "PE"}


@dataclass
class Tally:
    """What has happened up to a cycle: ``words`` moved by tensor and level, the ``sums`` in PEs, and those at rest."""

    systolic: bool
    words: Counter[Levels] = field(default_factory=Counter)
    sums: defaultdict[PE, dict[Address, float]] = field(default_factory=lambda: defaultdict(dict))
    rest: dict[Address, float] = field(default_factory=dict)

    def add(self, cycle: Cycle) -> None:
        """Follow a cycle: what moves, and then what is multiplied."""
        read: set[tuple[str, Address, str | PE]] = set()
        for move in cycle.moves:
            again = (move.tensor, move.address, move.source) in read and not self.systolic
            read.add((move.tensor, move.address, move.source))
            self._count(move, again)
            if move.tensor == "y":
                self._carry(move)
        for pe, work in cycle.work.items():
            self._multiply(pe, work)

    def _count(self, move: Move, again: bool) -> None:
        """Count a move at both of its ends; a word that goes to several PEs at once is read once."""
        out, into = (end if isinstance(end, str) else "register" for end in (move.source, move.target))
        is_operand = move.tensor != "y"
        if not (again or (is_operand and out == "register")):
            self.words[move.tensor, out] += 1
        hops = not is_operand and out == into == "register"
        if hops or (is_operand and into == "register"):
            self.words[move.tensor, "array"] += 1
        if not hops:
            self.words[move.tensor, into] += 1

    def _carry(self, move: Move) -> None:
        """Take a partial sum from where it was to where it goes."""
        source = self.sums[move.source] if isinstance(move.source, tuple) else self.rest
        value = source.pop(move.address, 0.0)
        if isinstance(move.target, tuple):
            there = self.sums[move.target]
            there[move.address] = there.get(move.address, 0.0) + value
        else:
            self.rest[move.address] = value

    def _multiply(self, pe: PE, work: Work) -> None:
        sums = self.sums[pe]
        self.words["x", "register"] += work.x is not None
        self.words["w", "register"] += 1
        self.words["y", "register"] += 1 + (work.y in sums)
        sums[work.y] = work.total

    def totals(self) -> dict[Address, float]:
        """What is there of each output so far, wherever it is."""
        found = dict(self.rest)
        for sums in self.sums.values():
            for address, value in sums.items():
                found[address] = found.get(address, 0.0) + value
        return found


def way(move: Move) -> Way:
    """The tensor of a move, and the kinds of places that it runs between."""
    source, target = (end if isinstance(end, str) else "PE" for end in (move.source, move.target))
    return move.tensor, source, target


def began(cycle: Cycle, move: Move, systolic: bool) -> int:
    """The number of the cycle in which the step of a move began: in a systolic array, PEs are behind by their place."""
    place = move.target if isinstance(move.target, tuple) else move.source
    return cycle.number - (sum(place) if systolic and isinstance(place, tuple) else 0)


def moved_by_loop(done: Execution) -> dict[int, Counter[Way]]:
    """Count, for each loop by its position, the moves that happen as it advances."""
    advanced = {cycle.number: cycle.advanced for cycle in done.trace}
    systolic = done.counts.array.network == "systolic"
    found: dict[int, Counter[Way]] = defaultdict(Counter)
    for cycle in done.trace:
        for move in cycle.moves:
            position = advanced.get(began(cycle, move, systolic))
            if position is not None:
                found[position][way(move)] += 1
    return found


def loop_notes(done: Execution, moved: dict[int, Counter[Way]]) -> dict[int, str]:
    """Say of each loop what it moves."""
    times = Counter(cycle.advanced for cycle in done.trace)
    return {i: _note(done, i, times[i], moved.get(i, Counter())) for i in range(len(done.nest.order))}


def _note(done: Execution, position: int, times: int, moved: Counter[Way]) -> str:
    loop = done.nest.order[position]
    if loop.level == "regs":
        return "It runs inside of the PEs: no word moves"
    if loop.level in SPATIAL:
        return "Its PEs work side by side"
    return f"As it advances ({count_text(times, 'time')}): {_ways(moved) or 'nothing moves'}"


def _ways(moves: Counter[Way]) -> str:
    """Say how many words move between which places."""
    return ", ".join(
        f"{count} {tensor} {_PLACES[source]} → {_PLACES[target]}" for (tensor, source, target), count in moves.items()
    )


def film(board: Board) -> Iterator[Frame]:
    """One frame for each cycle of a board's run."""
    done = board.done
    tally = Tally(done.counts.array.network == "systolic")
    for cycle in done.trace:
        before = Counter(tally.words)
        tally.add(cycle)
        yield Frame(
            _caption(cycle, done),
            lit=sorted({*_moved(board, cycle, tally.words - before), *_stands(board, cycle)}),
            values=_texts(board, cycle, tally),
            kinds=_kinds(board, cycle, tally),
            links=_links(board, cycle),
            arrows=_arrows(board, cycle),
        )


def _caption(cycle: Cycle, done: Execution) -> str:
    moves = Counter(map(way, cycle.moves))
    pes = done.counts.array.pes
    return f"{len(cycle.work)} of {pes} PEs multiply. {f'Moves: {_ways(moves)}' if moves else 'Nothing moves'}."


def _moved(board: Board, cycle: Cycle, words: Counter[Levels]) -> Iterator[int]:
    """The cells of what moves, and of the PEs that multiply."""
    for move in cycle.moves:
        yield board.places[move.tensor, move.address]
        if isinstance(move.target, tuple):
            yield board.slot[move.target, move.tensor]
    yield from (board.memory(*levels) for levels in words)
    yield from (board.slot[pe, "sum"] for pe in cycle.work)


def _stands(board: Board, cycle: Cycle) -> Iterator[int]:
    """The cells where the loops above the registers stand; those inside follow from what the PEs multiply."""
    above = [i for i, loop in enumerate(board.nest.order) if loop.level in ("grid", "dram", "buffer")]
    for position, index in zip(above, cycle.indices, strict=False):
        if position in board.strips:
            yield board.strips[position][index]
    for work in cycle.work.values():
        yield from board.stands(work, "regs")


def _texts(board: Board, cycle: Cycle, tally: Tally) -> dict[int, str]:
    texts = {board.places["y", at]: _number(value) for at, value in tally.totals().items()}
    for tensor in TENSORS:
        for level in MEMORIES:
            texts[board.memory(tensor, level)] = f"{tally.words[tensor, level]:,}"
    for pe, work in cycle.work.items():
        words = {"w": work.w, "x": work.x, "y": work.y}
        names = [board.planes[tensor].short(at) if at else "0" for tensor, at in words.items()]
        texts |= dict(zip(board.slots[pe], [*names, _number(work.total)], strict=True))
    return texts


def _kinds(board: Board, cycle: Cycle, tally: Tally) -> dict[int, str]:
    """Colour the words that are in PEs, and take the colour of PEs that have nothing to do."""
    kinds = {board.places["y", at]: "plain" for at in tally.rest}
    for pe, cells in board.slots.items():
        work = cycle.work.get(pe)
        if work is None:
            kinds |= dict.fromkeys(cells, "idle")
        elif work.x is None:
            kinds[cells[SLOTS.index("x")]] = "padding"
        for tensor, addresses in cycle.held.get(pe, {}).items():
            kinds |= {board.places[tensor, at]: KINDS[tensor] for at in addresses}
    return kinds


def _links(board: Board, cycle: Cycle) -> Ids:
    """Link a PE with where the loops stand for it, and its cells with the words that they hold."""
    ends: list[int] = []
    for pe, work in cycle.work.items():
        cells, stands = board.slots[pe], board.stands(work)
        ends += [end for cell in cells for stand in stands for end in (cell, stand)]
        used = {"w": work.w, "x": work.x, "y": work.y}
        ends += [end for tensor, at in used.items() if at for end in (cells[-1], board.places[tensor, at])]
        for tensor, addresses in cycle.held[pe].items():
            slot = board.slot[pe, tensor]
            ends += [end for at in addresses for end in (slot, board.places[tensor, at])]
    return np.array(ends, dtype=np.intp).reshape(-1, 2)


def _arrows(board: Board, cycle: Cycle) -> list[tuple[int, int]]:
    """Arrows for all moves: from PE to PE between their middles, from and to a memory at the word's own cell."""
    return [*dict.fromkeys(_arrow(board, move) for move in cycle.moves)]


def _arrow(board: Board, move: Move) -> tuple[int, int]:
    among = isinstance(move.source, tuple) and isinstance(move.target, tuple)
    start, end = (
        board.memory(move.tensor, end) if isinstance(end, str) else board.slot[end, "sum" if among else move.tensor]
        for end in (move.source, move.target)
    )
    return start, end
