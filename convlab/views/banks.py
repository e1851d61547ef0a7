"""Banks: where the words that a warp asks of shared memory lie, and how many wavefronts it takes to bring them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import gcd

import numpy as np
import numpy.typing as npt

from convlab.emulator.observers.requests import BANKS, count_wavefronts
from convlab.views.grid import Frame, Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["PITCHES", "SIZES", "WIDTHS", "BanksView", "Reading", "banks"]

PITCHES = range(5, 69)  # the powers of two in the middle of their table, where a frame has four sides
SIZES = (4, 8, 16)  # bytes of an element
WIDTHS = (1, 2, 4, 8, 16, 32)
_LANES = 32
_WORD = 4
_ACROSS = 8  # pitches in a row of their table
_WAITS = "waits: another word of its bank is served first"


@dataclass(frozen=True, eq=False, kw_only=True)
class BanksView(View):
    """The picture of a request: the ``wavefronts`` that it takes, and the ``least`` that its words could take."""

    wavefronts: int
    least: int

    @property
    def conflicts(self) -> int:
        """The wavefronts that better addresses would save."""
        return max(0, self.wavefronts - self.least)


@dataclass(frozen=True)
class Reading:
    """A read of a tile by a warp: its elements' places, their addresses in bytes, and the wavefronts that they take.

    >>> Reading(pitch=18, width=16).wavefronts, Reading(pitch=48, width=16).wavefronts
    (2, 1)

    Parameters as in `banks`. Source: NVIDIA, CUDA C++ Programming Guide, "Shared Memory"; how wavefronts are counted
    is the emulator's own rule.
    """

    pitch: int
    width: int
    stride: int = 1
    size: int = 4
    swizzle: bool = False

    @property
    def span(self) -> int:
        """Columns that the swizzle mixes: as many as the banks hold, or fewer, so that none leaves its row."""
        return gcd(self.pitch, _LANES * _WORD // self.size)

    @cached_property
    def places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The row and the column of each lane's element, as the kernel's author sees the tile."""
        row, col = np.divmod(np.arange(_LANES), self.width)
        return row * self.stride, col * self.stride

    @cached_property
    def address(self) -> npt.NDArray[np.int64]:
        """The byte in shared memory at which each lane's element begins."""
        row, col = self.places
        stored = col ^ row % self.span if self.swizzle else col
        return (row * self.pitch + stored) * self.size

    @property
    def wavefronts(self) -> int:
        """The wavefronts that the read takes."""
        return self._count(np.arange(_LANES))[0]

    @property
    def least(self) -> int:
        """The fewest wavefronts that could bring so many words."""
        return self._count(np.arange(_LANES))[1]

    def turns(self) -> list[tuple[int, bool]]:
        """The wavefront, from 0, that serves each lane, and whether the lane waits for it because of a conflict.

        Lanes of elements of 8 or 16 bytes go in turns of 16 or 8; in each turn, a lane that finds its bank taken by
        another word waits for the next wavefront.
        """
        together = _LANES * _WORD // self.size
        served: dict[int, tuple[int, bool]] = {}
        for lane, at in enumerate(self.address.tolist()):
            if at not in served:
                first = lane // together * together
                before, _ = self._count(np.arange(first))
                earlier = np.arange(first, lane + 1)
                bank = self.address[earlier] % (BANKS * _WORD) == at % (BANKS * _WORD)
                place, _ = self._count(earlier[bank])
                served[at] = before + place - 1, place > 1
        return [served[at] for at in self.address.tolist()]

    def _count(self, lanes: npt.NDArray[np.int64]) -> tuple[int, int]:
        total, least = count_wavefronts(self.address[lanes], self.size, np.zeros_like(lanes), lanes)
        return int(total), int(least)


def banks(pitch: int = 18, width: int = 16, stride: int = 1, size: int = 4, swizzle: bool = False) -> BanksView:
    """Show in which of the 32 banks of shared memory the elements lie that a warp reads from a tile.

    >>> view = banks(pitch=18, width=16)
    >>> view.wavefronts, view.conflicts, banks(pitch=48, width=16).conflicts
    (2, 1, 0)

    Parameters: ``pitch`` is how many elements lie from one row of the tile to the next; the lanes lie ``width`` to a
    row, as in a block of threads so wide, 1 standing for a column; ``stride`` is how far their elements lie apart along
    both axes, 0 for one that all lanes read; ``size`` is that of an element in bytes; with ``swizzle``, an element's
    column is mixed with its row by exclusive or before it is stored.

    Raises ``ValueError`` for numbers out of reach, and for rows that are longer than the pitch.
    """
    reading = Reading(pitch, width, stride, size, swizzle)
    _check(reading)
    turns = reading.turns()
    panels = [_memory(reading, turns), *([_pitches(reading)] if width < _LANES else [])]
    cells = _cells(reading, panels)
    wavefronts, least = reading.wavefronts, reading.least
    at = f", pitch {pitch}" if width < _LANES else ""
    title = f"Banks{at}: a warp reads {_shape(width)} of a tile in {count_text(wavefronts, 'wavefront')}"
    captions = [_verdict(reading), *_arrangement(reading), _best(reading)]
    return BanksView(
        title=title,
        alt=f"{title}. Pitch {pitch}, stride {stride}, elements of {size} bytes. {' '.join(captions)}",
        panels=panels,
        links=_links(cells, turns),
        captions=captions,
        legend={
            "shared": "asked for, served at once",
            "waste": _WAITS,
            "gap": "not asked for",
            "idle": "below a row",
        },
        frames=[*_frames(reading, cells, turns)],
        wavefronts=wavefronts,
        least=least,
    )


def _check(reading: Reading) -> None:
    call = f"views.banks(pitch={reading.pitch}, width={reading.width}, stride={reading.stride}, size={reading.size})"
    reach: Mapping[str, Sequence[int]] = {"pitch": PITCHES, "width": WIDTHS, "stride": range(17), "size": SIZES}
    for name, values in reach.items():
        if (value := getattr(reading, name)) not in values:
            some = f"from {values[0]} to {values[-1]}" if isinstance(values, range) else f"of {values}"
            raise ValueError(f"{name}={value!r} is none {some}.\n  In: {call}\n  Fix: choose one of these.")
    if reading.width < _LANES and reading.pitch < (length := _length(reading)):
        fix = f"choose a pitch from {length} on"
        raise ValueError(f"A row takes {length} elements, more than the pitch.\n  In: {call}\n  Fix: {fix}.")


def _length(reading: Reading) -> int:
    """The elements from the first that a row of lanes reads to the last."""
    return (reading.width - 1) * reading.stride + 1


def _shape(width: int) -> str:
    names = {1: "a column of 32 elements", _LANES: "a row of 32 elements"}
    return names.get(width, f"{_LANES // width} × {width} elements")


def _memory(reading: Reading, turns: Sequence[tuple[int, bool]]) -> Panel:
    rows, askers = _rows(reading), _askers(reading)
    words = [row * BANKS + bank for row in rows for bank in range(BANKS)]
    waits = {word: turns[lanes[0]][1] for word, lanes in askers.items()}
    kinds = {True: "waste", False: "shared"}
    return Panel(
        name="memory",
        title="Shared memory",
        subtitle="a column is a bank, a number the lane that asks for the word; left, the first word of each row",
        rows=len(rows),
        cols=BANKS,
        labels=[_label(word, reading, askers, turns) for word in words],
        values=[_asking(askers.get(word, [])) for word in words],
        kinds=[kinds[waits[word]] if word in waits else "gap" for word in words],
        row_index=[f"{row * BANKS:,}" for row in rows],
        col_index=[str(bank) for bank in range(BANKS)],
        row_lines=[i + 1 for i, (a, b) in enumerate(pairwise(rows)) if b > a + 1],
    )


def _askers(reading: Reading) -> Mapping[int, list[int]]:
    """The words that lanes ask for, and these lanes."""
    found: dict[int, list[int]] = defaultdict(list)
    for lane, at in enumerate(reading.address.tolist()):
        for word in range(at // _WORD, (at + reading.size) // _WORD):
            found[word].append(lane)
    return found


def _rows(reading: Reading) -> list[int]:
    """The rows of 32 words in which elements lie: an element never lies in two."""
    return sorted({at // (BANKS * _WORD) for at in reading.address.tolist()})


def _label(word: int, reading: Reading, askers: Mapping[int, list[int]], turns: Sequence[tuple[int, bool]]) -> str:
    place = f"word {word}, bank {word % BANKS}"
    if word not in askers:
        return f"{place}: no lane asks for it"
    lanes = askers[word]
    (rows, cols), lane = reading.places, lanes[0]
    wavefront, waits = turns[lane]
    who = f"lane {lane}" if len(lanes) == 1 else f"{len(lanes)} lanes"
    return (
        f"{place}: tile[{rows[lane]}][{cols[lane]}], asked for by {who}, wavefront {wavefront + 1}"
        f"{', after another word of this bank' * waits}"
    )


def _asking(lanes: Sequence[int]) -> str:
    """Say who asks for a word, in two letters at most, which fit the smallest cells."""
    return "" if not lanes else str(lanes[0]) if len(lanes) == 1 else "+"


def _others(reading: Reading) -> Mapping[int, tuple[int, int]]:
    """The wavefronts at each pitch that a row fits into, and the fewest possible."""
    shape = reading.width, reading.stride, reading.size, reading.swizzle
    some = {pitch: Reading(pitch, *shape) for pitch in PITCHES if pitch >= _length(reading)}
    return {pitch: (each.wavefronts, each.least) for pitch, each in some.items()}


def _pitches(reading: Reading) -> Panel:
    found = _others(reading)
    labels, kinds = [], []
    for pitch in PITCHES:
        taken, least = found.get(pitch, (0, 0))
        labels.append(f"pitch {pitch}: {count_text(taken, 'wavefront') if taken else 'less than a row of the tile'}")
        kinds.append("idle" if not taken else "shared" if taken <= least else "waste")
    return Panel(
        name="pitches",
        title="Wavefronts at each pitch",
        subtitle="framed: the pitch shown",
        rows=len(PITCHES) // _ACROSS,
        cols=_ACROSS,
        labels=labels,
        values=[str(found[pitch][0]) if pitch in found else "" for pitch in PITCHES],
        kinds=kinds,
        row_index=[f"{first}…{first + _ACROSS - 1}" for first in PITCHES[::_ACROSS]],
        regions=[int(pitch == reading.pitch) for pitch in PITCHES],
        switch=True,
    )


def _cells(reading: Reading, panels: Sequence[Panel]) -> list[list[int]]:
    """The cells of each lane's words."""
    ids = cell_ids(panels)["memory"]
    place = {row: i for i, row in enumerate(_rows(reading))}
    words = [range(at // _WORD, (at + reading.size) // _WORD) for at in reading.address.tolist()]
    return [[int(ids[place[word // BANKS], word % BANKS]) for word in some] for some in words]


def _links(cells: Sequence[Sequence[int]], turns: Sequence[tuple[int, bool]]) -> Ids:
    """Link what comes with the same wavefront."""
    together: dict[int, set[int]] = defaultdict(set)
    for some, (wavefront, _) in zip(cells, turns, strict=True):
        together[wavefront].update(some)
    return join(*(pairs(np.array([*some])[:, np.newaxis], [*some]) for some in together.values()))


def _frames(reading: Reading, cells: Sequence[Sequence[int]], turns: Sequence[tuple[int, bool]]) -> Iterator[Frame]:
    words = len({cell for some in cells for cell in some})
    yield Frame(f"One request: 32 lanes ask for {count_text(words, 'word')}. Step on to see each wavefront bring some.")
    total = reading.wavefronts
    for wavefront in range(total):
        lanes = [lane for lane in range(_LANES) if turns[lane][0] == wavefront]
        lit = sorted({cell for lane in lanes for cell in cells[lane]})
        yield Frame(
            f"Wavefront {wavefront + 1} of {total}: {count_text(len(lit), 'word')} for "
            f"{count_text(len(lanes), 'lane')}, one of each bank at most; {BANKS - len(lit)} banks are idle.",
            lit=lit,
        )


def _verdict(reading: Reading) -> str:
    wavefronts, least = reading.wavefronts, reading.least
    if not reading.stride:
        return "All lanes ask for the same element: it is read once and goes to all of them."
    if wavefronts > least:
        return (
            f"{count_text(wavefronts, 'wavefront')}, where {least} could bring as many words: the request takes "
            f"{wavefronts / least:.3g} times as long, since words of one bank come one after the other."
        )
    more = f": {BANKS} words each, {BANKS * _WORD // reading.size} lanes" if least > 1 else ""
    return f"No conflict: {count_text(wavefronts, 'wavefront')}, as few as so many words can take{more}."


def _arrangement(reading: Reading) -> Iterator[str]:
    if reading.swizzle:
        fits = f"with its row modulo {reading.span}" if reading.span > 1 else "with 0, since the pitch is odd"
        yield f"Swizzle: an element's column is mixed by exclusive or {fits}."


def _best(reading: Reading) -> str:
    if reading.width == _LANES:
        return "The lanes lie in one row of the tile, so that its pitch does not matter."
    free = [pitch for pitch, (taken, least) in _others(reading).items() if taken <= least]
    if not free:
        return "No pitch is without conflicts."
    return f"Pitches without conflicts, as far as drawn: {_listed(free)}."


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers in order, those at equal steps in short.

    >>> _listed([16, 48]), _listed([7, 9, 11, 13, 15])
    ('16 and 48', '7, 9, … 15')
    """
    texts = [str(number) for number in numbers]
    if len(numbers) > 4 and len({b - a for a, b in pairwise(numbers)}) == 1:
        return f"{texts[0]}, {texts[1]}, … {texts[-1]}"
    return " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
