from __future__ import annotations

import pytest

from convlab.dataflow.analytic import analyse
from convlab.dataflow.array import Array
from convlab.dataflow.executor import execute
from convlab.dataflow.fit import fit, tile_words
from convlab.dataflow.named import row_stationary
from convlab.dataflow.nest import Nest
from convlab.errors import ArgumentError
from convlab.spec import ConvSpec

from .cases import tensors

SPEC = ConvSpec(n=1, c=4, h=9, w=8, k=6, r=3, s=3)
NEST = "dram: k2 c2 | buffer: p7 q2 c2 | rows: r3 | cols: k3 | regs: s3 q3"


def test_tiles_are_what_their_loops_touch():
    nest = Nest.parse(NEST).on(SPEC)
    assert tile_words(nest, SPEC, "regs") == {"x": 5, "w": 3, "y": 3}
    assert tile_words(nest, SPEC, "buffer") == {"x": 2 * 9 * 8, "w": 3 * 2 * 9, "y": 3 * 7 * 6}
    strided = ConvSpec(n=1, c=1, h=20, w=20, k=1, r=2, s=2, stride=3, dilation=(4, 2))
    wide = Nest.parse("dram: p q | buffer: p2 q2 r2 s2").on(strided)
    assert tile_words(wide, strided, "buffer")["x"] == 4 * 4


def test_padding_takes_no_room():
    padded = ConvSpec(n=1, c=1, h=3, w=4, k=1, r=3, s=3, padding=2)
    whole = Nest.parse("buffer: p q r s").on(padded)
    assert tile_words(whole, padded, "buffer") == {"x": 3 * 4, "w": 9, "y": 5 * 6}


@pytest.mark.parametrize(("array", "fact", "fix"), [
    (Array(2, 3, 11, 324), "rows: r3 needs 3 rows of PEs, the array has 2", "Let r3 cover at most 2, and the rest"),
    (Array(3, 2, 11, 324), "cols: k3 needs 3 cols of PEs, the array has 2", "Let k3 cover at most 2, and the rest"),
    (Array(3, 3, 10, 324), "The registers of a PE hold 10 words, the tile needs 11: x 5 + w 3 + y 3",
     "Move one of the loops s3 (regs), q3 (regs) outwards, or lower its count"),
    (Array(3, 3, {"x": 5, "w": 2, "y": 3}, 324), "A PE's registers for w hold 2 words, the tile needs 3: w 3",
     "Move one of the loops s3 (regs), q3 (regs) outwards, or lower its count"),
    (Array(3, 3, 11, 323), "The buffer holds 323 words, the tile needs 324: x 144 + w 54 + y 126",
     "Move one of the loops p7 (buffer), q2 (buffer), c2 (buffer), r3 (rows), k3 (cols), s3 (regs), q3 (regs)"),
])  # fmt: skip
def test_what_does_not_fit_is_named_with_its_limit(array, fact, fix):
    for run in (fit, analyse, lambda *given: execute(*given[:2], *tensors(SPEC), given[2])):
        with pytest.raises(ValueError, match="Fix") as error:
            run(NEST, SPEC, array)
        lines = str(error.value).splitlines()
        assert lines[0] == f"{fact}."
        assert NEST in lines[1]
        assert str(SPEC) in lines[1]
        assert str(array) in lines[1]
        assert lines[2].startswith(f"  Fix: {fix}")


def test_what_just_fits_runs():
    assert str(fit(NEST, SPEC, Array(3, 3, 11, 324))) == NEST
    assert fit(NEST, SPEC, Array(3, 3, {"x": 5, "w": 3, "y": 3}, 324))


def test_what_passes_the_buffer_by_takes_no_room_there():
    text = NEST.replace("buffer:", "buffer(x w):")
    assert fit(text, SPEC, Array(3, 3, 11, 144 + 54))


@pytest.mark.parametrize(("nest", "array", "fact", "fix"), [
    (row_stationary, Array(3, 3), "Dataflow(", "a dataflow makes one: flow(spec, array)"),
    (SPEC, Array(3, 3), "ConvSpec(", "Give a Nest or its line of text"),
    (NEST, (3, 3), "A nest runs on an array of PEs, not on (3, 3)", "Give df.Array(rows=4, cols=4)"),
])  # fmt: skip
def test_what_is_no_nest_or_array_is_named(nest, array, fact, fix):
    for run in (fit, analyse, lambda *given: execute(*given[:2], *tensors(SPEC), given[2])):
        with pytest.raises(ArgumentError, match="In:") as error:
            run(nest, SPEC, array)
        assert str(error.value).startswith(fact)
        assert fix in str(error.value).splitlines()[2]
