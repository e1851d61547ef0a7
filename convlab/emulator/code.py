"""A translated kernel as plain records: what the machine runs, and what observers know its parts by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from convlab.emulator.lanes import Lanes
from convlab.emulator.program import Place

__all__ = ["Code", "Report", "Site", "Step"]


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that accesses memory: what observers and faults know it by."""

    index: int
    place: Place
    action: str  # "load" or "store"
    space: str
    dtype: np.dtype[Any]
    count: int  # elements per lane: 1, 2 or 4

    @property
    def width(self) -> int:
        """Bytes per lane."""
        return self.count * self.dtype.itemsize

    @property
    def shift(self) -> int:
        """The element's size as a power of two."""
        return self.dtype.itemsize.bit_length() - 1


@dataclass(slots=True)
class Step:
    """A basic block, ready to run: for all lanes (``full``) and for some of them (``part``)."""

    full: Callable[..., Any]
    part: Callable[..., Any]
    target: int | None
    fall: int | None
    places: tuple[Place, ...]  # one for each instruction
    flops: tuple[int, ...]  # floating-point operations of each instruction in each lane


@dataclass(slots=True)
class Code:
    """A kernel as Python: its steps, its registers' types, its memory instructions, its local bytes a thread."""

    steps: list[Step]
    dtypes: list[np.dtype[Any]]
    sites: list[Site]
    local_bytes: int
    source: str


Report = Callable[[Site, str, str, str, Lanes, NDArray[np.intp]], None]
"""Called for a bad access: the site, the kind of fault, what happens to whom ("reads x"), the rest of the sentence, the
lanes, and the positions of the bad ones among them."""
