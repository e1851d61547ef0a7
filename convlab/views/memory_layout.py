"""Layouts: one tensor as it lies in memory as NCHW, as NHWC and with channels packed, and what a warp's load moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from convlab.emulator.observers.requests import SECTOR
from convlab.views.grid import Ids, Panel, cell_ids, join, pairs
from convlab.views.view import View
from convlab.views.words import count_text

__all__ = ["LOADS", "MOST", "LayoutView", "layout", "loads_of"]

MOST = 256  # elements: more would be too small to point at
_WARP = 32
_BYTES = 4  # of an element
_FEW = 96  # elements that are drawn large enough for their numbers
LOADS = {
    "pixels": "neighbouring pixels of one channel",
    "channels": "all channels of a pixel, then of the next",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class LayoutView(View):
    """The picture of layouts: by layout, the sectors that the load touches, and their bytes that no lane asked for."""

    sectors: Mapping[str, int]
    wasted: Mapping[str, int]


class _Strip(NamedTuple):
    """A layout: the place in memory of each element, of shape (C, H, W), and how many places there are."""

    name: str
    place: Ids
    length: int

    @property
    def places(self) -> list[int]:
        """The places of the elements, numbered along (c, h, w)."""
        return self.place.ravel().tolist()


def layout(c: int = 8, h: int = 4, w: int = 8, pack: int = 4, load: str = "pixels", number: int = 1) -> LayoutView:
    """Show where the elements of one image lie in three layouts: point at one to see its neighbours in each.

    >>> view = layout(c=8, h=4, w=8, pack=4, load="pixels")
    >>> view.sectors, view.wasted["NHWC"]
    ({'NCHW': 4, 'NHWC': 32, 'NC/4HW4': 16}, 896)

    Parameters: the tensor has ``c`` channels of ``h`` × ``w`` pixels, of 4 bytes each; the packed layout holds ``pack``
    channels of a pixel side by side, then those of the next, and fills up the last pack with zeros; ``load`` is what
    neighbouring lanes of a warp take, "pixels" of a channel or "channels" of a pixel, and ``number`` is the load that
    is marked, counted from 1.

    Raises ``ValueError`` for sizes below 1, a tensor of more than 256 elements, and a load that is not there.
    """
    _check(c, h, w, pack, load, number)
    strips = _strips(c, h, w, pack)
    asked = _asked(c, h, w, load)[number - 1]
    lane = dict(zip(asked.tolist(), range(_WARP), strict=False))
    lanes = [lane.get(element, -1) for element in range(c * h * w)]
    moved = {strip.name: _touched(strip, asked) for strip in strips}
    wasted = {name: len(some) * SECTOR - len(asked) * _BYTES for name, some in moved.items()}
    memory = [_memory(i, each, lanes, moved[each.name], wasted[each.name]) for i, each in enumerate(strips, start=1)]
    panels = [_tensor(strips, lanes, number), *memory]
    title = f"Layouts of a tensor of {count_text(c, 'channel')} of {h} × {w} pixels"
    captions = [
        f"Solid blue: load {number} of {loads_of(c, h, w, load)}, by {count_text(len(asked), 'lane')} of a warp: "
        f"{LOADS[load]}. Heavy lines part the sectors of {SECTOR} bytes that move as a whole."
    ]
    costs = [f"{panel.title}: {panel.subtitle}." for panel in memory]
    return LayoutView(
        title=title,
        alt=" ".join([f"{title}, as they lie in memory.", *captions, *costs]),
        panels=panels,
        links=_links(strips, cell_ids(panels)),
        captions=captions,
        legend={
            "idle": "",
            "waste": "moves along, though no lane asks for it",
            "gap": "beyond the tensor",
            "padding": "a zero",
        },
        sectors={name: len(some) for name, some in moved.items()},
        wasted=wasted,
    )


def loads_of(c: int, h: int, w: int, load: str) -> int:
    """Count the loads that it takes to read the tensor once.

    >>> loads_of(3, 5, 7, "pixels"), loads_of(3, 5, 7, "channels")
    (6, 4)
    """
    return len(_asked(c, h, w, load))


def _check(c: int, h: int, w: int, pack: int, load: str, number: int) -> None:
    call = f"views.layout(c={c}, h={h}, w={w}, pack={pack}, load={load!r}, number={number})"
    if min(c, h, w, pack) < 1 or -(-c // pack) * pack * h * w > MOST:
        fix = f"take sizes from 1 on, and at most {MOST} elements with those that fill up the last pack"
        raise ValueError(f"Such a tensor has no picture.\n  In: {call}\n  Fix: {fix}.")
    if load not in LOADS:
        raise ValueError(f"load={load!r} is none of {', '.join(map(repr, LOADS))}.\n  In: {call}")
    count = loads_of(c, h, w, load)
    if not 1 <= number <= count:
        fix = f"choose one from 1 to {count}"
        raise ValueError(f"number={number} is not there: there are {count} loads.\n  In: {call}\n  Fix: {fix}.")


def _strips(c: int, h: int, w: int, pack: int) -> list[_Strip]:
    """Number the places of memory along the axes of each layout."""
    packs, size = -(-c // pack), c * h * w
    packed = np.arange(packs * pack * h * w).reshape(packs, h, w, pack).transpose(0, 3, 1, 2).reshape(-1, h, w)
    return [
        _Strip("NCHW", np.arange(size).reshape(c, h, w), size),
        _Strip("NHWC", np.arange(size).reshape(h, w, c).transpose(2, 0, 1), size),
        _Strip(f"NC/{pack}HW{pack}", packed[:c], packed.size),
    ]


def _asked(c: int, h: int, w: int, load: str) -> list[Ids]:
    """The elements, numbered along (c, h, w), that the lanes of each load take, lane by lane."""
    elements = np.arange(c * h * w).reshape(c, h * w)
    runs = elements if load == "pixels" else elements.T.reshape(1, -1)
    return [run[first : first + _WARP] for run in runs for first in range(0, len(run), _WARP)]


def _touched(strip: _Strip, asked: Ids) -> set[int]:
    return {*(strip.place.ravel()[asked] * _BYTES // SECTOR).tolist()}


def _tensor(strips: Sequence[_Strip], lanes: Sequence[int], number: int) -> Panel:
    c, h, w = strips[0].place.shape
    order = np.arange(c * h * w).reshape(c, h, w).transpose(1, 0, 2).ravel().tolist()  # planes side by side
    places = [(strip.name, strip.places) for strip in strips]
    labels = []
    for element in order:
        where = ", ".join(f"{name} place {some[element]}" for name, some in places)
        lane = f"; lane {lanes[element]} of load {number}" if lanes[element] >= 0 else ""
        labels.append(f"{_name(element, h, w)}: {where}{lane}")
    return Panel(
        name="tensor",
        title="Tensor x[0], its channels side by side",
        rows=h,
        cols=c * w,
        labels=labels,
        values=[str(element) for element in order],
        kinds=["input" if lanes[element] >= 0 else "idle" for element in order],
        row_axis="H",
        row_index=[str(row) for row in range(h)],
        col_axis="W",
        col_index=[f"c={channel}" if not column else "" for channel in range(c) for column in range(w)],
        col_lines=range(w, c * w, w),
    )


def _memory(line: int, strip: _Strip, lanes: Sequence[int], moved: set[int], wasted: int) -> Panel:
    """One layout as a strip: rows of memory, with a heavy line between sectors."""
    cols = _WARP if len(lanes) <= _FEW else 2 * _WARP
    rows = -(-strip.length // cols)
    elements = np.full(rows * cols, -1)  # at each place
    elements[strip.place.ravel()] = np.arange(len(lanes))
    places, labels, kinds = strip.places, [], []
    for place, element in enumerate(elements.tolist()):
        moves = place * _BYTES // SECTOR in moved
        labels.append(_label(strip, places, lanes, place, element) + (" (its sector moves)" if moves else ""))
        kinds.append(_kind(place < strip.length, element >= 0, element >= 0 and lanes[element] >= 0, moves))
    return Panel(
        name=strip.name,
        title=f"{strip.name} in memory",
        subtitle=f"{count_text(len(moved), 'sector')} to move, {wasted} bytes for nothing; {_distances(strip)}",
        rows=rows,
        cols=cols,
        labels=labels,
        values=[str(element) if element >= 0 else "" for element in elements.tolist()],
        kinds=kinds,
        row_index=[f"{row * cols * _BYTES} B" for row in range(rows)],
        col_lines=range(SECTOR // _BYTES, cols, SECTOR // _BYTES),
        line=line,
    )


def _kind(inside: bool, holds: bool, asked: bool, moves: bool) -> str:
    if asked:
        return "input"
    return "waste" if moves else "idle" if holds else "padding" if inside else "gap"


def _label(strip: _Strip, places: Sequence[int], lanes: Sequence[int], place: int, element: int) -> str:
    where = f"byte {place * _BYTES} of {strip.name}"
    if element < 0:
        return f"{where}: {'a zero that fills up the last pack' if place < strip.length else 'beyond the tensor'}"
    c, h, w = strip.place.shape
    here = {"W": (element % w, w, 1), "H": (element // w % h, h, w), "C": (element // (h * w), c, h * w)}
    steps = [
        f"{axis} {places[element + onward] - place} ({(places[element + onward] - place) * _BYTES} bytes)"
        for axis, (index, size, onward) in here.items()
        if index + 1 < size
    ]
    taken = f", lane {lanes[element]} takes it" if lanes[element] >= 0 else ""
    away = f"; elements from here to the next along {', '.join(steps)}" if steps else ""
    return f"{where}: {_name(element, h, w)}{taken}{away}"


def _name(element: int, h: int, w: int) -> str:
    return f"x[c={element // (h * w)}, h={element // w % h}, w={element % w}]"


def _distances(strip: _Strip) -> str:
    """How far the first element's neighbours lie."""
    steps = [np.diff(strip.place, axis=axis).ravel()[:1].tolist() for axis in (2, 1, 0)]
    bytes_on = ", ".join(str(step[0] * _BYTES) if step else "–" for step in steps)
    return f"from an element to the next along W, H, C: {bytes_on} bytes"


def _links(strips: Sequence[_Strip], ids: Mapping[str, Ids]) -> Ids:
    """Link each element with itself and with its neighbours, in all panels."""
    c, h, w = strips[0].place.shape
    everywhere = [ids["tensor"].reshape(h, c, w).transpose(1, 0, 2)]
    everywhere += [ids[strip.name].ravel()[strip.place] for strip in strips]
    same = [pairs(a, b) for i, a in enumerate(everywhere) for b in everywhere[:i]]
    near = [
        pairs(a[before], b[after])
        for a in everywhere
        for b in everywhere
        for before, after in (
            (np.s_[:-1], np.s_[1:]),
            (np.s_[:, :-1], np.s_[:, 1:]),
            (np.s_[:, :, :-1], np.s_[:, :, 1:]),
        )
    ]
    return join(*same, *near)
