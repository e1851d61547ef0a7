from __future__ import annotations

import random
import re

import numpy as np
import pytest

from convlab.dataflow.array import Array
from convlab.dataflow.named import row_stationary
from convlab.dataflow.nest import LETTERS, Loop, Nest
from convlab.dataflow.search import search
from convlab.errors import ArgumentError
from convlab.spec import ConvSpec, ConvTransposeSpec

from .cases import layers, nest

SPEC = ConvSpec(n=2, c=6, h=9, w=7, k=4, r=3, s=2, groups=2)


@pytest.mark.parametrize("text", [
    "",
    "dram: k2 c4 | buffer: n1 p2 | rows: r3 | cols: q4 | regs: c2 s3",
    "grid: n g k p q | dram: c | buffer(x w): r s | rows: p16 | cols: q16",
    "gemm | dram: q3 k24 c144 | buffer: q902 | rows: c16 | cols: k16",
    "dram: n g k | buffer(x): p",
    "dram: n2 | buffer(): p2",
])  # fmt: skip
def test_a_line_is_read_and_written_alike(text):
    assert str(Nest.parse(text)) == text
    assert repr(Nest.parse(text)) == f'Nest("{text}")'
    assert Nest.parse(str(Nest.parse(text))) == Nest.parse(text)


def test_spaces_and_commas_do_not_matter():
    assert Nest.parse(" dram :k2,  c4|buffer(w,x) :p") == Nest.parse("dram: k2 c4 | buffer(x w): p")


def test_a_letter_alone_runs_as_often_as_the_layer_needs():
    nest = Nest.parse("dram: n g k c | buffer: p q r s | cols: k2 q4 | regs: c2").on(SPEC)
    assert str(nest) == "dram: n2 g2 k1 c2 | buffer: p7 q2 r3 s2 | cols: k2 q4 | regs: c2"


def test_loops_that_are_read_back_visit_every_point_once():
    """The text of `loops` is run: as Python, with its parallel loops as loops in turn."""
    for seed, spec in enumerate(layers(12, seed=5)):
        made = nest(spec, random.Random(seed))
        made = Nest(tuple(loop for loop in made.order if loop.times > 1)[-18:])  # Python nests no more than 20 blocks
        body = re.sub(r"^( *)y\[.*$", r"\1visit(locals())", made.loops(), flags=re.MULTILINE)
        code = re.sub(r"parallel (\w+) in", r"for \1 in", body).replace("·", "*")
        seen = []
        exec(code, {"visit": lambda names, seen=seen: seen.append(tuple(names.get(each, 0) for each in LETTERS))})
        size = tuple(made.tile("grid").values())
        assert len(seen) == len(set(seen)) == np.prod(size), made
        assert all(at < far for point in seen for at, far in zip(point, size, strict=True))


def test_loops_name_their_levels():
    text = Nest.parse("dram: k2 | buffer: p7 q6 | rows: r3 | cols: k2 | regs: s2").loops()
    assert text.splitlines()[0].split("#")[1].strip() == "dram"
    assert "parallel k0 in range(2):" in text
    assert "k = 2·k1 + k0" in text
    assert text.splitlines()[-1].strip() == "y[k, p, q] += x[p, q, r, s] · w[k, r, s]"


def test_a_loop_without_a_count_says_so():
    assert "for k in range(…):" in Nest.parse("dram: k").loops()
    with pytest.raises(ValueError, match=r"How often k runs is not known yet\.\n  Fix: call nest\.on"):
        _ = Loop("dram", "k", None).times


@pytest.mark.parametrize(("text", "fact", "fix"), [
    ("dram k2", "'dram k2' is no level with loops", "Write a level, a colon and"),
    ("drum: k2", "There is no level 'drum'", "Use grid, dram, buffer, rows, cols, regs"),
    ("dram: k2 | dram: c2", "dram stands after dram", "Write the levels as grid | dram | buffer"),
    ("buffer: k2 | dram: c2", "dram stands after buffer", "Write the levels as grid | dram | buffer"),
    ("dram: z2", "'z2' at dram loops over the unknown letter 'z'", "Use n (images), g (groups)"),
    ("dram: kk2", "'kk2' at dram loops over the unknown letter 'kk'", "Use n (images)"),
    ("dram: 2k", "'2k' at dram is no loop", "Write a letter and a count"),
    ("dram: k0", "The loop 'k0' at dram never runs", "Give a count of at least 1"),
    ("dram: k" + "9" * 5000, "A loop over k at dram runs too often: 5000 digits", "Give a smaller count"),
    ("dram: k2 |", "'' is no level with loops", "Write a level, a colon and"),
    ("dram(x): k2", "dram cannot choose what it keeps", "Only the buffer can be passed by"),
    ("buffer(v): k2", "There is no tensor 'v'", "Use x, w and y"),
])  # fmt: skip
def test_what_cannot_be_read_is_named(text, fact, fix):
    with pytest.raises(ValueError, match="In:") as error:
        Nest.parse(text)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{fact}."
    assert lines[1] == f"  In: {text!r}"
    assert lines[2].startswith(f"  Fix: {fix}")


@pytest.mark.parametrize(("text", "fact", "fix"), [
    ("dram: n g k p q c r", "The loops over s cover 1 of 2 filter columns", "Add a loop s at dram"),
    ("dram: n g k p q r s c2", "The loops over c cover 2 of 3 channels of a group", "Add a loop c at dram"),
    ("gemm | dram: g k p c", "The loops over q cover 1 of 84 pixels of all images", "Add a loop q at dram"),
    ("gemm | dram: g k q c2", "The loops over c cover 2 of 18 products of a sum", "Add a loop c at dram"),
    ("dram: n g k p q c | buffer: r s c", "Two loops over c have no count", "Give one of them, as in c2"),
])  # fmt: skip
def test_loops_that_do_not_cover_the_layer_are_named(text, fact, fix):
    with pytest.raises(ValueError, match="Fix") as error:
        Nest.parse(text).on(SPEC)
    lines = str(error.value).splitlines()
    assert lines[0] == f"{fact}."
    assert text in lines[1]
    assert str(SPEC) in lines[1]
    assert lines[2].startswith(f"  Fix: {fix}")


TRANSPOSED = ConvTransposeSpec(n=1, c=2, h=4, w=5, k=3, r=3, s=3)


@pytest.mark.parametrize(("make", "fact", "fix"), [
    (lambda: Nest.parse(None), "A nest is read from text, not from None", 'Write it as "dram: k2'),
    (lambda: Nest("dram: k2"), "A nest is made of a tuple of loops", "Read a line of text with Nest.parse"),
    (lambda: Nest((Loop("regs", "s", 3), Loop("dram", "q", 6))), "A loop stands inside one of a lower level",
     "Put loops in the order of their levels: grid, dram"),
    (lambda: Loop("drum", "k", 2), "There is no such loop", "Use a level of grid, dram, buffer"),
    (lambda: Loop("dram", "kc", 2), "There is no such loop", "Use a level of grid, dram, buffer"),
    (lambda: Nest.parse("dram: k p q c r s").on(TRANSPOSED), "The loops run over a convolution, and ",
     "Give the layer as"),
    (lambda: row_stationary(TRANSPOSED, Array(3, 3)), "The loops run over a convolution", "Give the layer as"),
    (lambda: search((1, 2, 3), Array(3, 3)), "The loops run over a convolution, and (1, 2, 3)", "Give the layer as"),
])  # fmt: skip
def test_what_is_of_another_kind_is_named(make, fact, fix):
    with pytest.raises(ArgumentError, match="In:") as error:
        make()
    assert str(error.value).startswith(fact)
    assert f"\n  Fix: {fix}" in str(error.value)
