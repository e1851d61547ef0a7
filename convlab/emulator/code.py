"""A translated kernel as plain records: what the machine runs, and what observers know its parts by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from convlab.emulator.lanes import Lanes, pick
from convlab.emulator.program import Instruction, Place, Variable

__all__ = [
    "IMPATIENT",
    "PATIENT",
    "Branch",
    "Call",
    "Code",
    "Complain",
    "End",
    "Exit",
    "Meeting",
    "Return",
    "Site",
    "Source",
    "Step",
    "StoppedError",
    "Switch",
]


# How often lanes may jump back in vain, with nobody leaving the loop, before others get their turn: in a loop with an
# atomic or a volatile load, which may wait for them, and in any other, where parting lanes that meet again soon costs
# time.
IMPATIENT, PATIENT = 1, 4096


class StoppedError(Exception):
    """A launch ends before its end: its faults say why."""


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction that accesses memory: what observers and faults know it by."""

    index: int
    place: Place
    action: str  # "load", "store" or "atomic"
    space: str
    dtype: np.dtype[Any]
    count: int  # elements per lane: 1, 2, 4 or 8
    asynchronous: bool = False  # done only after a wait: cp.async
    strength: int = 0  # 1 for volatile accesses; 2 for atomic ones, and those made for talking to other threads
    unused: tuple[int, ...] = ()  # elements that nobody needs: compilers widen loads, and copy structs whole
    width: int = field(init=False)  # bytes per lane
    pieces: tuple[tuple[int, int], ...] = field(init=False)  # what is used of these: first byte and bytes of each run
    shift: int = field(init=False)  # the element's size as a power of two

    def __post_init__(self) -> None:
        """What every access asks for is computed once."""
        object.__setattr__(self, "width", self.count * self.dtype.itemsize)
        everything = () if self.space == "local" else ((0, self.width),)  # volatile: read for its own sake
        object.__setattr__(self, "pieces", tuple(self._pieces()) or everything)
        object.__setattr__(self, "shift", self.dtype.itemsize.bit_length() - 1)

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """The runs of elements that somebody uses."""
        edges = [-1, *self.unused, self.count]
        for before, after in pairwise(edges):
            if after - before > 1:
                yield (before + 1) * self.dtype.itemsize, (after - before - 1) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Source:
    """Where an operand comes from: a register's number, or a value that is the same for all."""

    register: int | None
    value: Any = None

    def of(self, registers: list[Any], lanes: Lanes) -> Any:
        """The operand of these lanes: a vector, or a scalar for all."""
        if self.register is None:
            return self.value
        return pick(registers[self.register], lanes)


@dataclass(frozen=True, slots=True)
class Meeting:
    """What lanes wait for at the start of a step: the lanes of a mask, or (``barrier``) threads of their block.

    For a barrier, ``who`` is its number and ``count`` how many threads it takes; ``arrive`` does not wait itself.
    """

    barrier: bool
    who: Source
    count: Source | None = None
    arrive: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """On to ``target`` where the step's condition holds, else to ``fall``; ``None`` ends the thread.

    ``patience`` is how often lanes may jump back, with nobody leaving the loop, while others wait.
    """

    target: int | None
    fall: int | None
    patience: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """On to one of several steps, by the number that the step computes (``brx.idx``)."""

    targets: tuple[int | None, ...]
    patience: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """Into a function, at ``target`` or (``None``) where the address that the step computes points; later to ``after``.

    ``frame`` is the size of the caller's frame in local memory; ``saved`` the registers that recursion would overwrite.
    """

    target: int | None
    after: int | None
    frame: int
    saved: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Return:
    """Back to where the function was called from."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of the thread, also inside of a function."""


Exit = Branch | Switch | Call | Return | End


@dataclass(slots=True)
class Step:
    """A basic block, ready to run: for all lanes (``full``) and for some of them (``part``)."""

    full: Callable[..., Any]
    part: Callable[..., Any]
    exit: Exit
    instructions: tuple[Instruction, ...]
    place: Place
    meeting: Meeting | None = None


@dataclass(slots=True)
class Code:
    """A kernel as Python: its steps, its registers' types, its memory instructions, and the memory it needs.

    ``functions`` maps the addresses of functions to their first steps; ``shared`` holds each shared variable with its
    place; ``pointer`` is the register in which functions find their frame.
    """

    steps: list[Step]
    first: int
    dtypes: list[np.dtype[Any]]
    specials: list[str]
    pointer: int
    sites: list[Site]
    frame: int
    functions: dict[int, int]
    shared: tuple[tuple[int, Variable], ...]
    shared_bytes: int
    source: str


# Called with what goes wrong: the kind of fault, its severity, the place, the lanes, and the rest of a sentence about
# the first one of them; `Machine.complain` says what else.
Complain = Callable[..., None]
