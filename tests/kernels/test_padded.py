from __future__ import annotations

from itertools import product

import pytest

from convlab.kernels.padded import padded_input
from convlab.spec import ConvSpec

from .specs import random_specs

SPECS = [
    *random_specs(25, seed=4, stride=(1, 1)),
    ConvSpec(n=3, c=1, h=5, w=5, k=1, r=3, s=3, padding=1),
    ConvSpec(n=5, c=1, h=1, w=1, k=1, r=1, s=1),
    ConvSpec(n=2, c=1, h=9, w=8, k=1, r=2, s=3, padding=(0, 4, 0, 5)),
    ConvSpec(n=2, c=1, h=20, w=9, k=1, r=1, s=1, padding=(2, 0)),
]


def slot_of(spec, padded, pixel):
    n, inside = divmod(pixel, spec.p * spec.q)
    p, q = divmod(inside, spec.q)
    return n * padded.image + p * padded.pitch + q


def input_at(spec, padded, slot):
    """The pixel of the input in a slot, None where that is padding or no image."""
    n, inside = divmod(slot, padded.image)
    row, column = divmod(inside, padded.pitch)
    h, w = row - spec.padding[0], column - spec.padding[2]
    return (n, h, w) if n < spec.n and 0 <= h < spec.h and 0 <= w < spec.w else None


@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_tap_of_a_window_is_found_at_its_distance(spec, level):
    padded = padded_input(spec, 1, level)
    for pixel, (r, s) in product(range(spec.n * spec.p * spec.q), product(range(spec.r), range(spec.s))):
        n, p, q = pixel // (spec.p * spec.q), pixel // spec.q % spec.p, pixel % spec.q
        h, w = p - spec.padding[0] + r * spec.dilation[0], q - spec.padding[2] + s * spec.dilation[1]
        expected = (n, h, w) if 0 <= h < spec.h and 0 <= w < spec.w else None
        shift = r * spec.dilation[0] * padded.pitch + s * spec.dilation[1]
        assert input_at(spec, padded, slot_of(spec, padded, pixel) + shift) == expected


@pytest.mark.parametrize("bn", [16, 64])
@pytest.mark.parametrize("level", [False, True])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_slots_of_a_tile_are_enough_and_hardly_more(spec, level, bn):
    padded = padded_input(spec, bn, level)
    reach = (spec.r - 1) * spec.dilation[0] * padded.pitch + (spec.s - 1) * spec.dilation[1] + 1
    spans = [
        slot_of(spec, padded, first + bn - 1) - slot_of(spec, padded, first) + reach
        for first in range(spec.n * spec.p * spec.q)
    ]
    assert max(spans) <= padded.slots
    slots = [slot_of(spec, padded, pixel) for pixel in range(spec.n * spec.p * spec.q)]
    assert sorted(slots) == slots
    gaps = padded.pitch - spec.q, padded.image - spec.p * padded.pitch
    assert padded.slots <= bn - 1 + reach + sum(gaps) + (bn // spec.q) * gaps[0] + bn // (spec.p * spec.q) * gaps[1]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_eight_outputs_of_a_tile_lie_in_eight_places_where_rows_are_level(spec):
    padded = padded_input(spec, 64, level=True)
    for first in range(0, spec.n * spec.p * spec.q, 8):
        assert len({slot_of(spec, padded, first + lane) % 8 for lane in range(8)}) == 8
