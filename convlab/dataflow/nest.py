"""A loop nest as data: the loops of a convolution, split over the levels of a machine, in one line of text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod

from convlab.dataflow.array import TENSORS
from convlab.reference.checks import argument_error
from convlab.spec import ConvSpec
from convlab.spec.values import LIMIT, shown

__all__ = ["INDEXED_BY", "LETTERS", "LEVELS", "SPATIAL", "Loop", "Nest", "sizes"]

LEVELS = ("grid", "dram", "buffer", "rows", "cols", "regs")
SPATIAL = ("rows", "cols")
LETTERS = "ngkpqcrs"
INDEXED_BY = {"x": "ngcpqrs", "w": "gkcrs", "y": "ngkpq"}  # the loops that each tensor's index follows from
_MEANING = {
    "n": "images",
    "g": "groups",
    "k": "filters of a group",
    "p": "output rows",
    "q": "output columns",
    "c": "channels of a group",
    "r": "filter rows",
    "s": "filter columns",
}
_MEANING_OF_GEMM = _MEANING | {"q": "pixels of all images", "c": "products of a sum"}
_EXAMPLE = '"dram: k2 c4 | buffer: p6 | rows: r3 | cols: q4 | regs: c2 s3"'


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop: at which level, over which letter, and how often; ``count`` is None for as often as the layer needs."""

    level: str
    letter: str
    count: int | None

    @property
    def times(self) -> int:
        """How often the loop runs, once it is known."""
        if self.count is None:
            raise ValueError(f"How often {self} runs is not known yet.\n  Fix: call nest.on(spec) first.")
        return self.count

    def __post_init__(self) -> None:
        if self.level not in LEVELS or self.letter not in tuple(LETTERS):
            fix = f"Use a level of {', '.join(LEVELS)}, and one letter of {', '.join(LETTERS)}"
            raise argument_error("There is no such loop", f"Loop({self.level!r}, {self.letter!r}, {self.count!r})", fix)

    def __str__(self) -> str:
        return self.letter if self.count is None else f"{self.letter}{self.count}"


@dataclass(frozen=True, slots=True, repr=False)
class Nest:
    """The loops of a convolution in order, the outermost first, each at a level of the machine.

    >>> nest = Nest.parse("dram: k2 | buffer: p2 q3 c4 | rows: r3 | cols: k4 | regs: s3")
    >>> print(nest)
    dram: k2 | buffer: p2 q3 c4 | rows: r3 | cols: k4 | regs: s3
    >>> print(nest.loops())
    for k1 in range(2):                      # dram
        for p in range(2):                   # buffer
            for q in range(3):               # buffer
                for c in range(4):           # buffer
                    parallel r in range(3):  # rows
                        parallel k0 in range(4):  # cols
                            for s in range(3):    # regs
                                k = 4·k1 + k0
                                y[k, p, q] += x[c, p, q, r, s] · w[k, c, r, s]

    Parameters: ``order`` is the loops; ``keeps`` the tensors that the buffer holds, the others pass it by; ``gemm``
    says that the loops are those of im2col's matrix product: k filters, q pixels of all images, c = (C/G)·R·S products.
    """

    order: tuple[Loop, ...]
    keeps: tuple[str, ...] = TENSORS
    gemm: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.order, tuple) or not all(isinstance(loop, Loop) for loop in self.order):
            fix = "Read a line of text with Nest.parse"
            raise argument_error("A nest is made of a tuple of loops", f"Nest({shown(self.order)})", fix)
        levels = [LEVELS.index(loop.level) for loop in self.order]
        if levels != sorted(levels):
            fix = f"Put loops in the order of their levels: {', '.join(LEVELS)}"
            raise argument_error("A loop stands inside one of a lower level", repr(self.order), fix)

    @classmethod
    def parse(cls, text: str) -> Nest:
        """Read a nest from its line; what each word means is in ``docs/dataflows.md``.

        >>> Nest.parse("gemm | grid: q k | dram: c | buffer(x w): c8 | rows: k8 | cols: q8").keeps
        ('x', 'w')

        Parameters: ``text`` is levels with their loops, separated by |. A loop is a letter and a count; a letter
        alone runs as often as the layer needs. Raises ``ValueError`` for an unknown level, letter, tensor or count.
        """
        if not isinstance(text, str):
            fact = f"A nest is read from text, not from {shown(text)}"
            raise argument_error(fact, "Nest.parse", f"Write it as {_EXAMPLE}")
        if not text.strip():
            return cls(())  # all sizes are 1
        parts = [part.strip() for part in text.split("|")]
        gemm = parts[0] == "gemm"
        keeps: tuple[str, ...] = TENSORS
        order, seen = list[Loop](), list[str]()
        for part in parts[gemm:]:
            level, kept, loops = _level(part, text)
            if seen and LEVELS.index(level) <= LEVELS.index(seen[-1]):
                raise _error(f"{level} stands after {seen[-1]}", text, f"Write the levels as {' | '.join(LEVELS)}")
            seen.append(level)
            keeps = keeps if kept is None else _kept(kept, level, text)
            order += [_loop(level, word, text) for word in loops.replace(",", " ").split()]
        return cls(tuple(order), keeps, gemm)

    def at(self, *levels: str) -> tuple[Loop, ...]:
        """The loops of some levels, in order."""
        return tuple(loop for loop in self.order if loop.level in levels)

    def inside(self, level: str) -> tuple[Loop, ...]:
        """The loops of a level and of all below it: what its tile is made of."""
        return self.at(*LEVELS[LEVELS.index(level) :])

    def tile(self, level: str) -> dict[str, int]:
        """How far a level's tile reaches along each letter."""
        return {letter: _times(self.inside(level), letter) for letter in LETTERS}

    def stride(self, position: int) -> int:
        """By how much the loop at a position of ``order`` moves its letter."""
        return _times(self.order[position + 1 :], self.order[position].letter)

    def on(self, spec: ConvSpec) -> Nest:
        """The nest with every count known, checked to cover a layer.

        >>> Nest.parse("dram: k p q | rows: c2").on(ConvSpec(n=1, c=2, h=5, w=6, k=3, r=1, s=1))
        Nest("dram: k3 p5 q6 | rows: c2")

        Raises ``ValueError`` that names the letter which the loops do not cover.
        """
        needed = sizes(self.layer(spec))
        order = list(self.order)
        for letter in LETTERS:
            places = [i for i, loop in enumerate(order) if loop.letter == letter]
            unknown = [i for i in places if order[i].count is None]
            known = prod(order[i].times for i in places if i not in unknown)
            if len(unknown) > 1:
                raise self._unfit(f"Two loops over {letter} have no count", spec, f"Give one of them, as in {letter}2")
            if unknown:
                order[unknown[0]] = replace(order[unknown[0]], count=-(-needed[letter] // known))
            elif known < needed[letter]:
                meaning = (_MEANING_OF_GEMM if self.gemm else _MEANING)[letter]
                fact = f"The loops over {letter} cover {known} of {needed[letter]} {meaning}"
                raise self._unfit(fact, spec, f"Add a loop {letter} at dram, or raise the count of one")
        return replace(self, order=tuple(order))

    def layer(self, spec: ConvSpec) -> ConvSpec:
        """What the loops run over: the layer itself, or im2col's matrix product as a 1×1 layer with one row of pixels.

        >>> spec = ConvSpec(n=2, c=4, h=5, w=7, k=6, r=3, s=3, groups=2)
        >>> print(Nest((), gemm=True).layer(spec))
        1×36×1×30 → 6 filters 1×1, stride 1, padding 0, groups 2
        """
        if not isinstance(spec, ConvSpec):
            fact = f"The loops run over a convolution, and {shown(spec)} is no ConvSpec"
            raise argument_error(fact, repr(self), "Give the layer as ConvSpec(n=1, c=3, h=32, w=32, k=8, r=3, s=3)")
        if not self.gemm:
            return spec
        product = spec.gemm_shape
        return ConvSpec(1, spec.groups * product.gemm_k, 1, product.gemm_n, spec.k, 1, 1, groups=spec.groups)

    def _unfit(self, fact: str, spec: ConvSpec, fix: str) -> ValueError:
        return ValueError(f"{fact}.\n  In: {self!r} on {spec}\n  Fix: {fix}.")

    def loops(self) -> str:
        """Read the nest back as nested loops, with the sum that they compute innermost."""
        names = self.names()
        heads = [_head(loop, name) for loop, name in zip(self.order, names, strict=True)]
        lines = [f"{'    ' * depth}{head}" for depth, head in enumerate(heads)]
        width = max(map(len, lines), default=0)
        inner = "    " * len(lines)
        shown = [f"{line.ljust(width)}  # {loop.level}" for line, loop in zip(lines, self.order, strict=True)]
        used = {loop.letter for loop in self.order}
        sums = [f"{inner}{line}" for letter in LETTERS if (line := self._composed(letter, names))]
        index = {tensor: ", ".join(each for each in letters if each in used) for tensor, letters in INDEXED_BY.items()}
        return "\n".join([*shown, *sums, f"{inner}y[{index['y']}] += x[{index['x']}] · w[{index['w']}]"])

    def names(self) -> list[str]:
        """The variable of each loop: its letter, numbered from the innermost where there are several."""
        left = {letter: sum(loop.letter == letter for loop in self.order) for letter in LETTERS}
        several = {letter for letter, times in left.items() if times > 1}
        names = []
        for loop in self.order:
            left[loop.letter] -= 1
            names.append(f"{loop.letter}{left[loop.letter]}" if loop.letter in several else loop.letter)
        return names

    def _composed(self, letter: str, names: list[str]) -> str | None:
        places = [i for i, loop in enumerate(self.order) if loop.letter == letter]
        if len(places) < 2:
            return None
        terms = [names[i] if self.stride(i) == 1 else f"{self.stride(i)}·{names[i]}" for i in places]
        return f"{letter} = {' + '.join(terms)}"

    def __str__(self) -> str:
        parts = ["gemm"] * self.gemm
        for level in LEVELS:
            named = level if level != "buffer" or self.keeps == TENSORS else f"buffer({' '.join(self.keeps)})"
            loops = self.at(level)
            if loops or named != level:
                parts.append(f"{named}: {' '.join(map(str, loops))}".rstrip())
        return " | ".join(parts)

    def __repr__(self) -> str:
        return f'Nest("{self}")'


def sizes(spec: ConvSpec) -> dict[str, int]:
    """How far each loop runs: filters and channels are those of a group.

    >>> sizes(ConvSpec(n=2, c=4, h=5, w=7, k=6, r=3, s=3, groups=2))
    {'n': 2, 'g': 2, 'k': 3, 'p': 3, 'q': 5, 'c': 2, 'r': 3, 's': 3}
    """
    groups = spec.groups
    counts = (spec.n, groups, spec.k // groups, spec.p, spec.q, spec.c // groups, spec.r, spec.s)
    return dict(zip(LETTERS, counts, strict=True))


def _times(loops: Iterable[Loop], letter: str) -> int:
    return prod(loop.times for loop in loops if loop.letter == letter)


def _head(loop: Loop, name: str) -> str:
    word = "parallel" if loop.level in SPATIAL else "for"
    return f"{word} {name} in range({'…' if loop.count is None else loop.count}):"


def _level(part: str, text: str) -> tuple[str, str | None, str]:
    found = re.fullmatch(r"(\w+)\s*(?:\(([^)]*)\))?\s*:(.*)", part, re.DOTALL)
    if found is None:
        raise _error(
            f"{part!r} is no level with loops", text, f"Write a level, a colon and its loops, as in {_EXAMPLE}"
        )
    level, kept, loops = found.groups()
    if level not in LEVELS:
        raise _error(f"There is no level {level!r}", text, f"Use {', '.join(LEVELS)}")
    return level, kept, loops


def _kept(names: str, level: str, text: str) -> tuple[str, ...]:
    kept = names.replace(",", " ").split()
    if level != "buffer":
        raise _error(f"{level} cannot choose what it keeps", text, "Only the buffer can be passed by: buffer(x w): …")
    if unknown := [name for name in kept if name not in TENSORS]:
        raise _error(f"There is no tensor {unknown[0]!r}", text, "Use x, w and y, with spaces between")
    return tuple(tensor for tensor in TENSORS if tensor in kept)


def _loop(level: str, word: str, text: str) -> Loop:
    found = re.fullmatch(r"([a-zA-Z]+)(\d*)", word)
    if found is None:
        raise _error(f"{word!r} at {level} is no loop", text, f"Write a letter and a count, as in {_EXAMPLE}")
    letter, count = found.groups()
    if len(letter) != 1 or letter not in LETTERS:
        meant = ", ".join(f"{each} ({_MEANING[each]})" for each in LETTERS)
        raise _error(f"{word!r} at {level} loops over the unknown letter {letter!r}", text, f"Use {meant}")
    if count and not count.strip("0"):
        raise _error(f"The loop {word!r} at {level} never runs", text, "Give a count of at least 1")
    if len(count) > len(str(LIMIT)):
        raise _error(
            f"A loop over {letter} at {level} runs too often: {len(count)} digits", text, "Give a smaller count"
        )
    return Loop(level, letter, int(count) if count else None)


def _error(fact: str, text: str, fix: str) -> ValueError:
    return ValueError(f"{fact}.\n  In: {text!r}\n  Fix: {fix}.")
