"""The dataflows that have names: which loops lie on the array, and which tensor stays, for any layer and array."""

from __future__ import annotations

from dataclasses import dataclass

from convlab.dataflow.array import TENSORS, Array
from convlab.dataflow.fit import tile_words
from convlab.dataflow.nest import LETTERS, LEVELS, Loop, Nest, sizes
from convlab.spec import ConvSpec

__all__ = [
    "DATAFLOWS",
    "Dataflow",
    "input_stationary",
    "output_stationary",
    "row_stationary",
    "systolic_gemm",
    "weight_stationary",
]


@dataclass(frozen=True, slots=True)
class Dataflow:
    """A rule that makes the nest of a layer on an array: call it with both.

    >>> spec = ConvSpec(n=4, c=256, h=15, w=15, k=384, r=3, s=3)
    >>> eyeriss = Array(rows=12, cols=14, registers={"x": 12, "w": 224, "y": 24}, buffer=54 * 1024)
    >>> print(row_stationary(spec, eyeriss))
    dram: n2 k3 c16 | buffer(x y): k2 c4 n2 q13 | rows: k4 r3 | cols: p13 | regs: k16 c4 s3

    ``cols`` and ``rows`` are the letters that lie on the array, the first as far as it goes. ``regs`` and ``buffer``
    are groups of letters that grow in these memories: a group together, and the next only when all of it is in.
    ``inner`` and ``outer`` are the orders of the loops at the buffer and at DRAM, the outermost first.
    """

    name: str
    idea: str
    rows: str
    cols: str
    regs: str
    buffer: str
    inner: str
    outer: str
    keeps: tuple[str, ...] = TENSORS
    gemm: bool = False

    def __call__(self, spec: ConvSpec, array: Array) -> Nest:
        """The nest of a layer on an array; what no memory or PE has room for is left to the loops at DRAM."""
        layer = Nest((), gemm=self.gemm).layer(spec)
        left = sizes(layer)
        cols = _lay(self.cols, array.cols, left)
        rows = _lay(self.rows, array.rows, left)
        spatial = (*_loops("rows", rows, self.rows[::-1]), *_loops("cols", cols, self.cols[::-1]))
        regs = self._grow("regs", left, spatial, layer, array)
        inside = (*spatial, *_loops("regs", regs, self.regs.replace(" ", "")[::-1]))
        buffer = self._grow("buffer", left, inside, layer, array)
        order = (*_loops("dram", left, self.outer), *_loops("buffer", buffer, self.inner), *inside)
        return Nest(order, self.keeps, self.gemm).on(spec)

    def _grow(
        self, level: str, left: dict[str, int], inside: tuple[Loop, ...], layer: ConvSpec, array: Array
    ) -> dict[str, int]:
        """Double the counts of a group's letters in turn while the memory has room; take them from ``left``."""
        counts: dict[str, int] = {}
        for group in getattr(self, level).split():
            growing = list(group)
            while growing:
                letter = growing.pop(0)
                wider = {**counts, letter: min(2 * counts.get(letter, 1), left[letter])}
                if wider[letter] > counts.get(letter, 1) and self._fits(level, wider, inside, layer, array):
                    counts = wider
                    growing.append(letter)
            if any(counts.get(letter, 1) < left[letter] for letter in group):
                break
        return {letter: _take(letter, count, left) for letter, count in counts.items()}

    def _fits(
        self, level: str, counts: dict[str, int], inside: tuple[Loop, ...], layer: ConvSpec, array: Array
    ) -> bool:
        loops = sorted((*_loops(level, counts, LETTERS), *inside), key=lambda loop: LEVELS.index(loop.level))
        words = tile_words(Nest(tuple(loops), self.keeps), layer, level)
        if level == "buffer":
            return sum(words[tensor] for tensor in self.keeps) <= array.buffer
        if isinstance(array.registers, int):
            return sum(words.values()) <= array.registers
        return all(words[tensor] <= room for tensor, room in array.registers.items())


def _lay(letters: str, room: int, left: dict[str, int]) -> dict[str, int]:
    """Lay letters along rows or columns of PEs, one beside the other, in as few rounds as there is room for."""
    counts = {}
    for letter in letters:
        counts[letter] = _take(letter, min(room, left[letter]), left)
        room //= counts[letter]
    return counts


def _take(letter: str, count: int, left: dict[str, int]) -> int:
    """Take a count off what is left of a letter, and no more than the rounds that remain need."""
    rounds = -(-left[letter] // count)
    count, left[letter] = -(-left[letter] // rounds), rounds
    return count


def _loops(level: str, counts: dict[str, int], order: str) -> tuple[Loop, ...]:
    """Loops in an order; those that run once are left out."""
    letters = order + "".join(letter for letter in counts if letter not in order)
    return tuple(Loop(level, letter, counts[letter]) for letter in letters if counts.get(letter, 1) > 1)


weight_stationary = Dataflow(
    name="weight_stationary",
    idea="every PE keeps a weight while all pixels pass; sums go down the rows and wait in the buffer",
    rows="csr",
    cols="k",
    regs="",
    buffer="sr q pnck",
    inner="kcrsnpq",
    outer="npqgkcrs",
)
output_stationary = Dataflow(
    name="output_stationary",
    idea="every PE keeps a sum until it is done; pixels and weights pass",
    rows="qp",
    cols="k",
    regs="",
    buffer="sr c qk pn",
    inner="npqkcrs",
    outer="gknpqcrs",
)
input_stationary = Dataflow(
    name="input_stationary",
    idea="every PE keeps a window of pixels while all filters pass",
    rows="c",
    cols="qp",
    regs="sr",
    buffer="q kpnc",
    inner="npqcrsk",
    outer="gnpqcrsk",
)
row_stationary = Dataflow(
    name="row_stationary",
    idea="every PE keeps a row of weights and slides along a row of pixels; pixels go diagonally, sums down the rows",
    rows="rpk",
    cols="pk",
    regs="s ck",
    buffer="q nkc",
    inner="kcrsnpq",
    outer="pnqgkcrs",
    keeps=("x", "y"),
)
systolic_gemm = Dataflow(
    name="systolic_gemm",
    idea="im2col's product: weights stay, columns of pixels cross the array, sums go down the rows",
    rows="c",
    cols="k",
    regs="",
    buffer="qk c",
    inner="kcq",
    outer="qgkc",
    gemm=True,
)
DATAFLOWS = (weight_stationary, output_stationary, input_stationary, row_stationary, systolic_gemm)
