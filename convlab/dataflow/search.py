"""Search loop orders and tile sizes for the nest that costs least: no proof, but what it stands on is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Literal

from tqdm.auto import tqdm

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.counts import Counts
from convlab.dataflow.named import DATAFLOWS, Dataflow
from convlab.dataflow.nest import LETTERS, Loop, Nest, sizes
from convlab.reference.checks import argument_error
from convlab.spec import ConvSpec
from convlab.spec.values import UnfitError, integer, shown

__all__ = ["Found", "search"]

By = Literal["energy", "cycles"]
TILED = ("buffer", "rows", "cols", "regs")  # where counts are chosen; DRAM's loops do the rest
ORDERED = ("dram", "buffer")  # where the order matters
PATIENCE = 300  # changes without a better nest, after which the search starts elsewhere
DRAWS = 3 * PATIENCE  # changes and new starts that bring no new nest, after which there is none: a small layer has few
_LAST = float("inf"), float("inf")
_KEYS: Mapping[str, Callable[[Counts], tuple[float, float]]] = {
    "energy": lambda counts: (counts.energy, counts.cycles),
    "cycles": lambda counts: (counts.cycles, counts.energy),
}


@dataclass(frozen=True, slots=True)
class Found:
    """The best nest of a search, its counts, and what it stands on: how many it tried, from how many starts."""

    nest: Nest
    counts: Counts
    by: By
    tried: int
    fitted: int
    starts: int
    seed: int
    interrupted: bool

    def __str__(self) -> str:
        best = "least energy" if self.by == "energy" else "fewest cycles"
        starts = f"{self.starts} start{'s' * (self.starts != 1)}"
        early = ", stopped before its end" if self.interrupted else ""
        return (
            f"{self.nest}\n"
            f"energy {self.counts.energy / self.counts.macs:.2f} for each multiply-add, {self.counts.cycles:,} cycles\n"
            f"The {best} of {self.fitted:,} nests that fit, of {self.tried:,} tried from {starts} with "
            f"seed {self.seed}{early}: a search by chance, so another may be better."
        )


@dataclass(frozen=True, slots=True)
class _Choice:
    """A nest as choices: counts by level and letter, and the letters' order where it matters."""

    counts: Mapping[tuple[str, str], int]
    orders: Mapping[str, str]
    like: Nest

    @classmethod
    def of(cls, nest: Nest, flow: Dataflow | None) -> _Choice:
        """The choices that a nest has made; letters without a loop stand where the dataflow would have them."""
        counts: dict[tuple[str, str], int] = {}
        for loop in nest.order:
            key = loop.level, loop.letter
            counts[key] = counts.get(key, 1) * loop.times
        orders = {}
        for level in ("grid", *ORDERED, *TILED):
            places = {"dram": flow.outer, "buffer": flow.inner}.get(level, "") if flow else ""
            present = places or "".join(dict.fromkeys(loop.letter for loop in nest.at(level)))
            orders[level] = present + "".join(letter for letter in LETTERS if letter not in present)
        return cls(counts, orders, nest)

    def nest(self, size: Mapping[str, int], fixed: tuple[str, ...]) -> Nest:
        """No level repeats what fixed levels and those inside it cover; DRAM's loops do what all others leave."""
        levels = sorted((*reversed(TILED), "grid"), key=lambda level: level not in (*fixed, "grid"))
        times: dict[tuple[str, str], int] = {}
        for letter, whole in size.items():
            left = whole
            for level in levels:
                times[level, letter] = min(self.counts.get((level, letter), 1), left)
                left = -(-left // times[level, letter])
            times["dram", letter] = left
        order = [
            Loop(level, letter, times[level, letter])
            for level, letters in self.orders.items()
            for letter in letters
            if times[level, letter] > 1
        ]
        return replace(self.like, order=tuple(order))

    def changed(self, random: Random, size: Mapping[str, int], fixed: tuple[str, ...], orders: bool) -> _Choice:
        """One to three counts or places in an order changed."""
        choice = self
        for _ in range(random.choice((1, 1, 2, 3))):
            if orders and random.random() < 0.3 and (levels := [level for level in ORDERED if level not in fixed]):
                choice = choice._reordered(random, random.choice(levels))
            elif levels := [level for level in TILED if level not in fixed]:
                choice = choice._resized(random, random.choice(levels), size)
        return choice

    def _reordered(self, random: Random, level: str) -> _Choice:
        letters = list(self.orders[level])
        letters.insert(random.randrange(len(letters)), letters.pop(random.randrange(len(letters))))
        return replace(self, orders={**self.orders, level: "".join(letters)})

    def _resized(self, random: Random, level: str, size: Mapping[str, int]) -> _Choice:
        letter = random.choice([letter for letter in LETTERS if size[letter] > 1] or list(LETTERS))
        now = self.counts.get((level, letter), 1)
        counts = sorted({-(-size[letter] // rounds) for rounds in range(1, size[letter] + 1)})
        near = min(range(len(counts)), key=lambda i: abs(counts[i] - now))
        step = random.choice((-3, -2, -1, 1, 2, 3))
        return replace(self, counts={**self.counts, (level, letter): counts[max(0, min(near + step, len(counts) - 1))]})


def search(
    spec: ConvSpec,
    array: Array,
    by: By = "energy",
    start: Nest | Dataflow | str | None = None,
    fixed: tuple[str, ...] = (),
    orders: bool = True,
    budget: int = 2000,
    seed: int = 0,
    progress: bool = True,
) -> Found:
    """Look for the nest of a layer with the least energy, or the fewest cycles.

    >>> spec = ConvSpec(n=1, c=4, h=6, w=6, k=8, r=3, s=3)
    >>> found = search(spec, Array(rows=4, cols=4, registers=16, buffer=256), by="cycles", budget=300, progress=False)
    >>> found.counts.cycles, found.counts.utilisation
    (288, 1.0)

    It climbs from one nest to better ones by small changes, and starts anew where that ends: from ``start``, or from
    all named dataflows in turn, the best first. Ctrl-C ends it early, with the best so far.

    Parameters: ``by`` is "energy" or "cycles", of which the other decides between equals; ``start`` is a nest, its
    line, or a dataflow; ``fixed`` names levels whose loops stay those of the start, and without ``orders`` loops keep
    their order: so ``start=row_stationary, fixed=("rows", "cols"), orders=False`` finds the best row stationary nest;
    ``budget`` is how many nests to try; ``seed`` makes it the same search again; ``progress`` shows a bar.

    Raises ``ValueError`` for another ``by``, ``fixed`` or ``budget``, and where not one nest fits.
    """
    start = Nest.parse(start) if isinstance(start, str) else start
    _check(by, start, fixed, budget)
    climb = _Climb(spec, array, by, start, fixed, orders, seed, budget)
    interrupted = False
    try:
        for _ in tqdm(range(budget - climb.tried), desc="searching", unit="nest", leave=False, disable=not progress):
            if not climb.step():
                break
    except KeyboardInterrupt:
        interrupted = True
    if climb.best is None:
        fix = "Fix: give the array more registers or a larger buffer, or try more nests."
        raise ValueError(f"None of {climb.tried} nests fits.\n  In: {spec}, {array}\n  {fix}")
    counts, nest = climb.best
    return Found(nest, counts, by, climb.tried, climb.fitted, climb.starts, seed, interrupted)


def _check(by: str, start: object, fixed: tuple[str, ...], budget: int) -> None:
    if not isinstance(start, Nest | Dataflow | None):
        fix = "Give a Nest, its line of text, or a dataflow such as df.row_stationary"
        raise argument_error(f"start={shown(start)} is no nest", "search", fix)
    if by not in _KEYS:
        raise ValueError(f"by={by!r} is no measure.\n  In: search\n  Fix: use {' or '.join(map(repr, _KEYS))}.")
    if unknown := [level for level in fixed if level not in {*ORDERED, *TILED}]:
        levels = ", ".join(dict.fromkeys((*ORDERED, *TILED)))
        raise ValueError(
            f"fixed names no level {unknown[0]!r}.\n  In: search\n  Fix: use some of {levels}, as in ('rows', 'cols')."
        )
    try:
        integer("budget", budget, least=1)
    except UnfitError as error:
        raise error.within("search") from None


class _Climb:
    """The state of a search: where it stands, the best so far, and how much it has tried."""

    def __init__(
        self,
        spec: ConvSpec,
        array: Array,
        by: By,
        start: Nest | Dataflow | None,
        fixed: tuple[str, ...],
        orders: bool,
        seed: int,
        budget: int,
    ) -> None:
        self.spec, self.array, self.key, self.fixed, self.orders = spec, array, _KEYS[by], fixed, orders
        self.random = Random(seed)
        self.tried = self.fitted = self.starts = self.failures = 0
        self.best: tuple[Counts, Nest] | None = None
        self.current: tuple[Counts | None, _Choice] | None = None
        flows = [start] if isinstance(start, Dataflow) else [flow for flow in DATAFLOWS if not flow.gemm]
        nests = {start.on(spec): None} if isinstance(start, Nest) else {flow(spec, array): flow for flow in flows}
        self.flows: Mapping[Nest, Dataflow | None] = nests
        self.size = sizes(next(iter(nests)).layer(spec))
        self.known = {nest: self._count(nest) for nest in list(nests)[:budget]}
        self.pool = sorted(self.known, key=lambda nest: self.key(counts) if (counts := self.known[nest]) else _LAST)

    def step(self) -> bool:
        """Try a nest that was not tried before, a change of the current or a new start; say whether there was one."""
        for _ in range(DRAWS):
            choice = self._next()
            nest = choice.nest(self.size, self.fixed)
            new = nest not in self.known
            if new:
                self.known[nest] = self._count(nest)
            self._stand(choice, self.known[nest])
            if new:
                return True
        return False

    def _next(self) -> _Choice:
        if self.current is not None and self.failures < PATIENCE:
            return self.current[1].changed(self.random, self.size, self.fixed, self.orders)
        nest = self.pool[self.starts % len(self.pool)]
        choice = _Choice.of(nest, self.flows[nest])
        self.starts, self.failures, self.current = self.starts + 1, 0, (None, choice)
        return choice

    def _stand(self, choice: _Choice, counts: Counts | None) -> None:
        """Go on from a choice that is no worse than where the search stands."""
        standing = self.current[0] if self.current else None
        if counts is None or (standing is not None and self.key(counts) > self.key(standing)):
            self.failures += 1
            return
        better = standing is None or self.key(counts) < self.key(standing)
        self.failures = 0 if better else self.failures + 1
        self.current = counts, choice

    def _count(self, nest: Nest) -> Counts | None:
        """The counts of a nest, None where it does not fit; the best is kept."""
        self.tried += 1
        try:
            counts = analyse(nest, self.spec, self.array)
        except ValueError:
            return None
        self.fitted += 1
        if self.best is None or self.key(counts) < self.key(self.best[0]):
            self.best = counts, nest
        return counts
