from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.observers.requests import count_sectors, count_wavefronts

WIDTHS = [1, 2, 4, 8, 16]
SPANS = [1, 3, 40, 1000, 1 << 20]  # accesses apart: from all lanes close together to all far from each other


def requests(rng, width, span, warps=40):
    """Some lanes of each warp, from one to all of them, at random aligned addresses: address, warp, lane."""
    lanes = [np.sort(rng.permutation(32)[: rng.integers(1, 33)]) for _ in range(warps)]
    warp = np.repeat(np.sort(rng.choice(3 * warps, warps, replace=False)), [each.size for each in lanes])
    address = rng.integers(0, span, warp.size) * width + int(rng.integers(0, 100)) * 16
    if rng.random() < 0.3:
        address = np.sort(address)  # the ascending case has a short cut
    return address, warp, np.concatenate(lanes)


def by_request(address, warp, lane):
    for each in sorted(set(warp.tolist())):
        yield list(zip(lane[warp == each].tolist(), address[warp == each].tolist(), strict=True))


def sectors_by_sets(width, *request):
    """Sectors, the fewest for the distinct bytes, and the distinct bytes: byte by byte."""
    found = np.zeros(3, int)
    for lanes in by_request(*request):
        touched = {a + n for _, a in lanes for n in range(width)}
        found += len({byte // 32 for byte in touched}), -(-len(touched) // 32), len(touched)
    return tuple(found.tolist())


def wavefronts_by_sets(width, *request):
    """Wavefronts, and the fewest for the distinct words: each part of a warp takes as many as its fullest bank has
    words that no earlier part was served."""
    wavefronts = fewest = 0
    for lanes in by_request(*request):
        served = set()
        for part in range(max(1, width // 4)):
            per_part = 32 // max(1, width // 4)
            words = {(a + n) // 4 for lane, a in lanes if lane // per_part == part for n in range(width)} - served
            banks = [word % 32 for word in words]
            wavefronts += max((banks.count(bank) for bank in banks), default=0)
            served |= words
        fewest += -(-len(served) // 32)
    return wavefronts, fewest


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("width", WIDTHS)
def test_sectors_ideal_sectors_and_bytes_agree_with_sets(width, span):
    rng = np.random.default_rng(width * 7919 + span)
    for _ in range(4):
        address, warp, lane = requests(rng, width, span)
        assert count_sectors(address, width, warp) == sectors_by_sets(width, address, warp, lane)


@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize("width", WIDTHS)
def test_wavefronts_and_the_fewest_agree_with_sets(width, span):
    rng = np.random.default_rng(width * 104729 + span)
    for _ in range(4):
        request = requests(rng, width, span)
        assert count_wavefronts(request[0], width, *request[1:]) == wavefronts_by_sets(width, *request)


LANE = np.arange(32)
ROW, COLUMN = LANE % 8, LANE // 8  # ldmatrix .x4: lane l names row l % 8 of matrix l // 8, 16 bytes


@pytest.mark.parametrize(
    ("width", "address", "wavefronts", "conflicts"),
    [
        (4, 4 * LANE, 1, 0),
        (4, 4 * LANE[::-1], 1, 0),
        (4, 8 * LANE, 2, 1),  # two words of each second bank
        (4, 12 * LANE, 1, 0),  # odd strides meet every bank once
        (4, 16 * LANE, 4, 3),
        (4, 128 * LANE, 32, 31),  # all in bank 0: a column of a 32-wide tile
        (4, 132 * LANE, 1, 0),  # the same with a padding to 33
        (4, 0 * LANE, 1, 0),  # one word for all
        (4, 4 * (LANE % 2) * 32, 2, 1),  # two words of one bank
        (4, 4 * (LANE // 2), 1, 0),
        (1, LANE, 1, 0),  # four lanes a word
        (2, 64 * LANE, 16, 15),
        (8, 8 * LANE, 2, 0),  # float2: two half-warps
        (8, 16 * LANE, 4, 2),
        (8, 0 * LANE, 1, 0),  # what the first half-warp was served, the second has
        (16, 16 * LANE, 4, 0),  # float4: eight lanes at a time
        (16, 32 * LANE, 8, 4),
        (16, 128 * ROW + 16 * COLUMN, 32, 28),  # rows of 64 halves: all rows of a matrix in the same four banks
        (16, 128 * ROW + 16 * (COLUMN ^ ROW), 4, 0),  # the same, swizzled
        (16, 144 * ROW + 16 * COLUMN, 4, 0),  # the same, rows padded by 16 bytes
    ],
)
def test_patterns_that_are_known(width, address, wavefronts, conflicts):
    found, fewest = count_wavefronts(address, width, 0 * LANE, LANE)
    assert (found, found - fewest) == (wavefronts, conflicts)


@pytest.mark.parametrize(
    ("width", "address", "expected"),
    [
        (4, 4 * LANE, (4, 4, 128)),
        (4, 4 * LANE + 4, (5, 4, 128)),  # shifted by an element
        (4, 8 * LANE, (8, 4, 128)),
        (4, 32 * LANE, (32, 4, 128)),
        (4, 0 * LANE, (1, 1, 4)),
        (4, 4 * (LANE % 2) * 64, (2, 1, 8)),  # two places, alternating: each counts once
        (2, 2 * LANE, (2, 2, 64)),
        (16, 16 * LANE, (16, 16, 512)),
        (16, 64 * LANE, (32, 16, 512)),
    ],
)
def test_sectors_that_are_known(width, address, expected):
    assert count_sectors(address, width, 0 * LANE) == expected


def test_parts_of_a_warp_are_made_of_lane_numbers_not_of_active_lanes():
    late = np.arange(16, 32)  # the upper half-warp alone: one part, so that words of one bank collide
    assert count_wavefronts(256 * late, 8, 0 * late, late) == (16, 1)
    both = np.array([0, 31])  # two parts, one wavefront each, though two words would fit one
    assert count_wavefronts(8 * both, 8, 0 * both, both) == (2, 1)
