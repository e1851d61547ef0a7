"""What all memory spaces share: loads, stores and atomics, once it is known where each lane's bytes lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.code import Complain, Site
from convlab.emulator.lanes import UNSIGNED, Lanes
from convlab.emulator.memory.access import gather, scatter
from convlab.emulator.memory.atomics import update

__all__ = ["Piece", "Space", "as_unsigned"]

VERBS = {"load": "reads", "store": "writes", "atomic": "updates"}


class Piece(NamedTuple):
    """Good accesses to one array: lane ``picked[i]`` (``None``: lane i) finds its bytes at ``address[i] - low``.

    Where memory has ``rows`` of ``stride`` bytes, that is the place within the row of this number.
    """

    data: NDArray[np.uint8]
    address: NDArray[np.int64]
    low: int = 0
    picked: NDArray[np.intp] | None = None
    rows: NDArray[np.intp] | None = None
    stride: int = 0


class Space:
    """A memory space: subclasses find the places, and report the lanes that have none."""

    def __init__(self, sites: Sequence[Site]) -> None:
        self.sites = sites
        self.watchers: list[Callable[..., None]] = []
        self.complain: Complain = lambda *_, **__: None

    def announce(self, site: Site, address: Any, lanes: Lanes, values: tuple[Any, ...] = ()) -> None:
        """Tell the observers; what is passed to a function is no access of the program's."""
        if site.space != "param":
            for tell in self.watchers:
                tell(site, address, lanes, values)

    def locate(self, site: Site, address: Any, lanes: Lanes) -> list[Piece]:
        """The good accesses of these lanes."""
        raise NotImplementedError

    def report(self, site: Site, kind: str, name: str, rest: str, lanes: Lanes, bad: NDArray[np.intp]) -> None:
        """Complain of the bad ones among some lanes: what they do to ``name``, and the rest of the sentence."""
        what = f"{VERBS[site.action]} {name}"
        self.complain(kind, "error", site.place, lanes.part(bad), f"{what}{rest}", space=site.space, about=what)

    def load(self, number: int, address: Any, lanes: Lanes) -> tuple[Any, ...]:
        """The elements at each lane's address; a lane whose address is bad reads zero."""
        site = self.sites[number]
        self.announce(site, address, lanes)
        pieces = self.locate(site, address, lanes)
        whole = len(pieces) == 1 and pieces[0].picked is None
        out = (np.empty if whole else np.zeros)((site.count, lanes.size), site.dtype)
        for data, at, low, picked, rows, stride in pieces:
            part = out if picked is None else np.empty((site.count, picked.size), site.dtype)
            gather(at, low, rows, stride, site.shift, as_unsigned(data, site), as_unsigned(part, site))
            if picked is not None:
                out[:, picked] = part
        return tuple(out)

    def store(self, number: int, address: Any, values: tuple[Any, ...], lanes: Lanes) -> None:
        """Write each lane's elements; of several lanes at one address the last one wins, bad ones write nothing."""
        site = self.sites[number]
        self.announce(site, address, lanes, values)
        for data, at, low, picked, rows, stride in self.locate(site, address, lanes):
            new = np.empty((site.count, at.size), site.dtype)
            for row, value in zip(new, values, strict=True):
                row[:] = value if picked is None or not value.ndim else value[picked]
            scatter(at, low, rows, stride, site.shift, as_unsigned(data, site), as_unsigned(new, site))

    def atomic(self, number: int, operation: str, address: Any, values: tuple[Any, ...], lanes: Lanes) -> Any:
        """Read, combine and write, one lane after the other; returns what each lane found."""
        site = self.sites[number]
        self.announce(site, address, lanes, values)
        old = np.zeros(lanes.size, site.dtype)
        for data, at, low, picked, rows, stride in self.locate(site, address, lanes):
            chosen = slice(None) if picked is None else picked
            operands = [np.broadcast_to(value, lanes.size)[chosen] for value in values]
            positions = (at - low if rows is None else at + rows * stride) >> site.shift
            old[chosen] = update(
                operation, data[: data.size & -site.dtype.itemsize].view(site.dtype), positions, operands
            )
        return old


def as_unsigned(array: NDArray[Any], site: Site) -> NDArray[Any]:
    """The same bytes as unsigned integers: one compiled loop for each size, not for each type."""
    size = site.dtype.itemsize
    if array.ndim == 1:  # raw bytes of memory; an incomplete element at the end is left out
        array = array[: array.size & -size]
    return array.view(UNSIGNED[size])
