"""Whether a nest fits a machine: its tiles the memories, its spatial loops the array."""

from __future__ import annotations

from math import prod

from convlab.dataflow.array import TENSORS, Array
from convlab.dataflow.nest import SPATIAL, Loop, Nest, sizes
from convlab.reference.checks import argument_error
from convlab.spec import ConvSpec
from convlab.spec.values import shown

__all__ = ["fit", "tile_words"]


def fit(nest: Nest | str, spec: ConvSpec, array: Array) -> Nest:
    """Give the nest with every count known, once it covers the layer and fits the machine.

    >>> spec = ConvSpec(n=1, c=2, h=5, w=6, k=3, r=3, s=3)
    >>> fit("dram: k p q c | rows: r3 | regs: s3", spec, Array(rows=3, cols=1, registers=7, buffer=100))
    Nest("dram: k3 p3 q4 c2 | rows: r3 | regs: s3")

    Raises ``ValueError`` that names the loop or the tile, and the limit that it passes.
    """
    nest = _read(nest, array).on(spec)
    context = f"{nest!r} on {spec}, {array}"
    for level in SPATIAL:
        loops, size = nest.at(level), getattr(array, level)
        needed = prod(loop.times for loop in loops)
        if needed > size:
            shown = " ".join(map(str, loops))
            fix = f"Let {shown} cover at most {size}, and the rest be done in time, by loops at buffer"
            raise _error(f"{level}: {shown} needs {needed} {level} of PEs, the array has {size}", context, fix)
    layer = nest.layer(spec)
    registers, buffer = tile_words(nest, layer, "regs"), tile_words(nest, layer, "buffer")
    if isinstance(array.registers, int):
        _check("The registers of a PE hold", array.registers, registers, context, nest.at("regs"))
    else:
        for tensor, words in array.registers.items():
            own = {tensor: registers[tensor]}
            _check(f"A PE's registers for {tensor} hold", words, own, context, nest.at("regs"))
    kept = {tensor: buffer[tensor] for tensor in nest.keeps}
    _check("The buffer holds", array.buffer, kept, context, nest.inside("buffer"))
    return nest


def _read(nest: Nest | str, array: Array) -> Nest:
    if not isinstance(array, Array):
        fact = f"A nest runs on an array of PEs, not on {shown(array)}"
        raise argument_error(fact, shown(nest), "Give df.Array(rows=4, cols=4)")
    if isinstance(nest, str):
        return Nest.parse(nest)
    if not isinstance(nest, Nest):
        fact = f"{shown(nest)} is no nest"
        raise argument_error(
            fact, str(array), "Give a Nest or its line of text; a dataflow makes one: flow(spec, array)"
        )
    return nest


def tile_words(nest: Nest, layer: ConvSpec, level: str) -> dict[str, int]:
    """The words of each tensor's tile at a level, where the layer's edge does not cut it."""
    whole = sizes(layer)
    t = {letter: min(count, whole[letter]) for letter, count in nest.tile(level).items()}
    rows = {p * layer.stride[0] + r * layer.dilation[0] for p in range(t["p"]) for r in range(t["r"])}
    cols = {q * layer.stride[1] + s * layer.dilation[1] for q in range(t["q"]) for s in range(t["s"])}
    return {
        "x": t["n"] * t["g"] * t["c"] * min(len(rows), layer.h) * min(len(cols), layer.w),
        "w": t["g"] * t["k"] * t["c"] * t["r"] * t["s"],
        "y": t["n"] * t["g"] * t["k"] * t["p"] * t["q"],
    }


def _check(fact: str, limit: int, tile: dict[str, int], context: str, loops: tuple[Loop, ...]) -> None:
    needed = sum(tile.values())
    if needed > limit:
        parts = " + ".join(f"{tensor} {tile[tensor]}" for tensor in TENSORS if tensor in tile)
        made = ", ".join(f"{loop} ({loop.level})" for loop in loops if loop.times > 1)
        smaller = f"Move one of the loops {made} outwards, or lower its count"
        fix = smaller if made else "Give the array room for a word of each tensor"
        raise _error(f"{fact} {limit} words, the tile needs {needed}: {parts}", context, fix)


def _error(fact: str, context: str, fix: str) -> ValueError:
    return ValueError(f"{fact}.\n  In: {context}\n  Fix: {fix}.")
