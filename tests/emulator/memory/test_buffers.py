from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import Buffer
from convlab.emulator.code import Site
from convlab.emulator.memory.buffers import describe
from convlab.emulator.program import Place

X = Buffer("x", np.zeros((2, 3, 4, 5), "f4"), "nchw")


def site(dtype: str, count: int = 1, action: str = "load") -> Site:
    return Site(0, Place("k.cu", 7), action, "global", np.dtype(dtype), count)


@pytest.mark.parametrize(
    ("element", "place"),
    [
        (-1, "n=0, c=0, h=-1, w=4"),
        (-6, "n=0, c=0, h=-2, w=4"),
        (120, "n=1, c=2, h=4, w=0"),
        (127, "n=1, c=2, h=5, w=2"),
        (-21, "n=0, c=-2, h=3, w=4"),
        (150, "n=1, c=4, h=2, w=0"),
        (600, "n=10, c=0, h=0, w=0"),
    ],
)
def test_a_bad_place_in_tensor_terms(element, place):
    where = "before the start" if element < 0 else "after the end"
    text = describe(X, 4 * element, site("f4"))
    assert text == f"[{place}], which lies {where} of x, an array of shape (2, 3, 4, 5)."


@pytest.mark.parametrize(("shape", "axes"), [((7,), "i"), ((0, 3), "hw"), ((4, 0), None)])
def test_arrays_of_one_axis_or_without_elements_have_plain_indices(shape, axes):
    buffer = Buffer("x", np.zeros(shape, "f4"), axes)
    assert describe(buffer, 32, site("f4")).startswith("[8], which lies after the end of x")


def test_a_wide_access_names_the_first_element_that_is_outside():
    text = describe(Buffer("x", np.zeros(6, "f4")), 16, site("f4", 4))
    assert text.startswith("[6], which lies after the end of x, an array of shape (6,)")


def test_a_misaligned_access_names_its_byte_and_its_width():
    text = describe(X, 6, site("f4", 2), "misaligned")
    assert text == " at byte 6, which is no multiple of the access's 8 bytes."


def test_raw_bytes_are_counted_in_elements_of_the_access():
    table = Buffer("table", np.zeros(24, "u1"), raw=True)
    assert describe(table, 24, site("u8")) == "[3], which lies after the end of table, an array of shape (3,)."
