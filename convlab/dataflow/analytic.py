"""Count what a nest moves without moving it: sums over the steps of each letter, multiplied over the letters.

A word moves when a loop advances. The steps at which one certain loop advances are all combinations of what the letters
stand at, independent of each other; and a tile is a product of ranges, one for each axis of the tensor. So the words
of all these steps are products of sums along the axes: words of the new tiles, less those that the old ones had.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import NamedTuple

from convlab.dataflow.array import Array
from convlab.dataflow.counts import Counts, Traffic
from convlab.dataflow.fit import fit
from convlab.dataflow.moments import TAP_OF, Letter, lines
from convlab.dataflow.nest import INDEXED_BY, LETTERS, SPATIAL, Nest, sizes
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis

__all__ = ["analyse"]


def analyse(nest: Nest | str, spec: ConvSpec, array: Array) -> Counts:
    """Count what `execute` would count, on layers of any size.

    >>> spec = ConvSpec(n=16, c=96, h=31, w=31, k=256, r=5, s=5, groups=2)
    >>> counts = analyse("dram: n g c k | buffer: p q | rows: r5 | cols: k16 | regs: s5", spec, Array(5, 16))
    >>> counts["w", "dram"].reads, counts["y", "dram"].writes
    (4915200, 143327232)

    Parameters and errors are those of ``execute``, without the numbers.
    """
    nest = fit(nest, spec, array)
    layer = nest.layer(spec)
    traffic: dict[tuple[str, str], Traffic] = {}
    for tensor in INDEXED_BY:
        kept = tensor in nest.keeps
        buffered = _words(nest, layer, tensor, "buffer") if kept else None
        taken = _words(nest, layer, tensor, "regs")
        levels = _sums(layer, buffered, taken) if tensor == "y" else _operand(layer, tensor, buffered, taken)
        traffic |= {(tensor, level): each for level, each in levels.items()}
    skew = _farthest(nest, layer) if array.network == "systolic" else 0
    return Counts(array, layer.macs, _cycles(nest, layer) + skew, traffic)


class Words(NamedTuple):
    """Words that a level sends to the one below: ``distinct`` are read there, ``taken`` is one for each taker."""

    distinct: int
    taken: int


def _operand(layer: ConvSpec, tensor: str, buffered: Words | None, taken: Words) -> dict[str, Traffic]:
    used = _multiplied_pixels(layer) if tensor == "x" else layer.macs
    return {
        "dram": Traffic(reads=taken.distinct if buffered is None else buffered.distinct),
        "buffer": Traffic() if buffered is None else Traffic(taken.distinct, buffered.distinct),
        "array": Traffic(moves=taken.taken, multicasts=taken.taken - taken.distinct),
        "register": Traffic(reads=used, writes=taken.taken),
    }


def _sums(layer: ConvSpec, buffered: Words | None, taken: Words) -> dict[str, Traffic]:
    """A sum comes from above each time that its tile begins, but for the first; and it leaves as often."""
    outputs = prod(layer.output_shape)
    home = (taken if buffered is None else buffered).distinct
    again, resumed = taken.distinct - outputs, home - outputs
    through = Traffic(again + home, resumed + taken.distinct, resumed=taken.distinct - home)
    return {
        "dram": Traffic(resumed, home, resumed=resumed),
        "buffer": Traffic() if buffered is None else through,
        "array": Traffic(moves=taken.taken - taken.distinct),
        "register": Traffic(layer.macs + again, layer.macs + again, resumed=layer.macs - taken.taken),
    }


def _multiplied_pixels(layer: ConvSpec) -> int:
    """Multiply-adds whose pixel is not padding."""
    inside = [sum(_windows_inside(axis, tap) for tap in range(axis.window)) for axis in layer.axes]
    return layer.n * layer.k * (layer.c // layer.groups) * prod(inside)


def _windows_inside(axis: Axis, tap: int) -> int:
    """The outputs whose window has a pixel of the image under a tap."""
    shift = axis.before - tap * axis.dilation
    first, end = -(-shift // axis.stride), -(-(axis.size + shift) // axis.stride)
    return max(0, min(end, axis.outputs) - max(first, 0))


def _cycles(nest: Nest, layer: ConvSpec) -> int:
    """One for each point of the loops in time; a loop ends where the first PE has nothing left to do."""
    cycles = 1
    for letter, size in sizes(layer).items():
        tile = prod(loop.times for loop in nest.at("regs") if loop.letter == letter)
        step = tile * prod(loop.times for loop in nest.at(*SPATIAL) if loop.letter == letter)
        cycles *= size // step * tile + min(tile, size % step)
    return cycles


def _farthest(nest: Nest, layer: ConvSpec) -> int:
    """The cycles by which the last PE with any work is behind the first: one for each row and each column."""
    size, far = sizes(layer), 0
    lanes = [(i, loop) for i, loop in enumerate(nest.order) if loop.level in SPATIAL]
    for indices in product(*(range(loop.times) for _, loop in lanes)):
        at = dict.fromkeys(LETTERS, 0)
        lane = dict.fromkeys(SPATIAL, 0)
        for (i, loop), index in zip(lanes, indices, strict=True):
            at[loop.letter] += index * nest.stride(i)
            lane[loop.level] = lane[loop.level] * loop.times + index
        if all(at[letter] < size[letter] for letter in LETTERS):
            far = max(far, sum(lane.values()))
    return far


class Sums(NamedTuple):
    """Sums over an axis' moments: words of all new tiles together and one by one, and what was held of them."""

    distinct: int
    distinct_held: int
    taken: int
    taken_held: int


def _words(nest: Nest, layer: ConvSpec, tensor: str, level: str) -> Words:
    """What a level takes of a tensor in a run: when it starts, and whenever a loop above it advances."""
    above = len(nest.at("grid", "dram") if level == "buffer" else nest.at("grid", "dram", "buffer"))
    grid = len(nest.at("grid"))
    seen = lines(nest, layer, level, above)
    total = Words(0, 0)
    for position in range(-1, above):
        letters = {
            letter: Letter(line.size, line.tile, line.offsets, line.moments(position, fresh=position < grid))
            for letter, line in seen.items()
        }
        sums = _axes(layer, tensor, letters)
        distinct, distinct_held, taken, taken_held = (prod(column) for column in zip(*sums, strict=True))
        total = Words(total.distinct + distinct - distinct_held, total.taken + taken - taken_held)
    return total


def _axes(layer: ConvSpec, tensor: str, letters: dict[str, Letter]) -> list[Sums]:
    """The sums along every axis: of the tensor's index, and of the loops that it does not depend on."""
    sums = []
    for letter, each in letters.items():
        if letter not in INDEXED_BY[tensor]:
            sums.append(_outside(each, slides=tensor == "x"))
        elif tensor != "x" or letter in "ngc":
            sums.append(_own(each))
        elif letter in TAP_OF:
            sums.append(_shared(each, letters[TAP_OF[letter]], layer.axes["pq".index(letter)]))
    return sums


@lru_cache(maxsize=65536)
def _own(letter: Letter) -> Sums:
    """An axis of one letter: two tiles along it are the same, or have nothing in common."""
    words = held = 0
    for after, before, times in letter.moments:
        here = sum(max(0, min(letter.tile, letter.size - after - offset)) for offset in letter.offsets)
        words += times * here
        held += times * here * (before == after)
    return Sums(words, held, words, held)


@lru_cache(maxsize=65536)
def _outside(letter: Letter, slides: bool) -> Sums:
    """A letter that the tensor does not depend on: it says which PEs work, and so take words.

    A tile that stays is held by a PE even while it idles; of one that slides on, a PE holds the common part where it
    worked before.
    """
    distinct = distinct_held = taken = taken_held = 0
    for after, before, times in letter.moments:
        busy = sum(after + offset < letter.size for offset in letter.offsets)
        both = sum(max(after, before or 0) + offset < letter.size for offset in letter.offsets)
        kept = (both if slides else busy) if before is not None else 0
        distinct, taken = distinct + times, taken + times * busy
        distinct_held, taken_held = distinct_held + times * (kept == busy), taken_held + times * kept
    return Sums(distinct, distinct_held, taken, taken_held)


@lru_cache(maxsize=65536)
def _shared(outputs: Letter, taps: Letter, axis: Axis) -> Sums:
    """An axis of x: pixels under some outputs and taps, as bits of a number; tiles overlap in space and in time."""
    distinct = distinct_held = taken = taken_held = 0
    for (p, p_before, p_times), (r, r_before, r_times) in product(outputs.moments, taps.moments):
        times = p_times * r_times
        base = min(p, p if p_before is None else p_before) * axis.stride - axis.before
        after, before = (_tiles(outputs, taps, start, axis, base) for start in ((p, r), (p_before, r_before)))
        wanted = _union(after)
        missing = _union([new & ~old for new, old in zip(after, before, strict=True)])
        distinct += times * wanted.bit_count()
        distinct_held += times * (wanted & ~missing).bit_count()
        taken += times * sum(new.bit_count() for new in after)
        taken_held += times * sum((new & old).bit_count() for new, old in zip(after, before, strict=True))
    return Sums(distinct, distinct_held, taken, taken_held)


def _tiles(outputs: Letter, taps: Letter, start: tuple[int | None, int | None], axis: Axis, base: int) -> list[int]:
    """The pixels of each PE's tile, where they are inside the image, as bits from a base on."""
    output, tap = start
    if output is None or tap is None:
        return [0] * (len(outputs.offsets) * len(taps.offsets))
    inside = (1 << max(0, axis.size - base)) - 1 & ~((1 << max(0, -base)) - 1)
    tiles = []
    for p, r in product(outputs.offsets, taps.offsets):
        rows, reach = min(outputs.tile, outputs.size - output - p), min(taps.tile, taps.size - tap - r)
        first = (output + p) * axis.stride + (tap + r) * axis.dilation - axis.before - base
        tiles.append(_comb(rows, reach, axis.stride, axis.dilation) << first & inside)
    return tiles


@lru_cache(maxsize=65536)
def _comb(outputs: int, taps: int, stride: int, dilation: int) -> int:
    """The pixels under so many outputs and taps as bits, the first of them in the lowest."""
    return _repeated(_repeated(1, taps, dilation), outputs, stride)


def _repeated(bits: int, count: int, step: int) -> int:
    """Bits, so often, each time a step further."""
    done = min(1, max(0, count))
    found = bits * done
    while done < count:
        more = min(done, count - done)
        found, done = found | found << more * step, done + more
    return found


def _union(tiles: Sequence[int]) -> int:
    found = 0
    for tile in tiles:
        found |= tile
    return found
