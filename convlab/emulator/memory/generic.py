"""The generic space: each address lies in global, shared or local memory, and says so itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from convlab.emulator.addresses import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BITS
from convlab.emulator.code import Site
from convlab.emulator.lanes import Lanes
from convlab.emulator.memory.space import Space

__all__ = ["GENERIC", "GenericSpace"]

# The spaces that an instruction with a generic address may access, each with a site of its own, in this order.
GENERIC = (("global", 0), ("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW))


class GenericSpace:
    """Sends each lane to the space of its address."""

    def __init__(self, spaces: Sequence[Space], sites: Sequence[Site]) -> None:
        self.spaces = spaces
        self.sites = sites

    def _split(self, address: Any, lanes: Lanes) -> Iterator[tuple[int, Any, Lanes, Any]]:
        """For each space: its number among the sites, the addresses in it, the lanes, and their positions."""
        window = address >> WINDOW_BITS
        for number, (_, base) in enumerate(GENERIC):
            here = (window < 1) | (window > 2) if base == 0 else window == base >> WINDOW_BITS
            if np.all(here):
                yield number, address - base, lanes, None
            elif np.any(here):
                at = np.flatnonzero(here)
                yield number, address[at] - base, lanes.part(at), at

    def load(self, site: int, address: Any, lanes: Lanes) -> tuple[Any, ...]:
        """The elements at each lane's address."""
        out = np.zeros((self.sites[site].count, lanes.size), self.sites[site].dtype)
        for number, at, part, picked in self._split(address, lanes):
            values = self.spaces[number].load(site + number, at, part)
            if picked is None:
                return values
            out[:, picked] = values
        return tuple(out)

    def store(self, site: int, address: Any, values: tuple[Any, ...], lanes: Lanes) -> None:
        """Write each lane's elements."""
        for number, at, part, picked in self._split(address, lanes):
            chosen = values if picked is None else tuple(v[picked] if v.ndim else v for v in values)
            self.spaces[number].store(site + number, at, chosen, part)

    def atomic(self, site: int, operation: str, address: Any, values: tuple[Any, ...], lanes: Lanes) -> Any:
        """Read, combine and write."""
        old = np.zeros(lanes.size, self.sites[site].dtype)
        for number, at, part, picked in self._split(address, lanes):
            chosen = values if picked is None else tuple(v[picked] if v.ndim else v for v in values)
            found = self.spaces[number].atomic(site + number, operation, at, chosen, part)
            if picked is None:
                return found
            old[picked] = found
        return old
