"""The picture of banks against the counters of kernels that read there, and against the ladder's pitches."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import gcd
from typing import Any

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.kernels.halo import halo, wavefronts
from convlab.views.banks import PITCHES, BanksView, banks

# The tile is as large as the farthest element asks for; what is in it does not matter.
SOURCE = """
struct __align__(SIZE) Element { float values[SIZE / 4]; };
extern "C" __global__ void read(float* y, int pitch, int width, int stride, int span) {
    extern __shared__ __align__(16) char memory[];
    Element* tile = (Element*)memory;
    int row = threadIdx.x / width * stride, col = threadIdx.x % width * stride;
    Element each = tile[row * pitch + (col ^ row % span)];
    float sum = 0;
    for (float value : each.values) sum += value;
    y[threadIdx.x] = sum;
}
"""


def random_case(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    width = int(rng.choice([1, 2, 4, 8, 16, 32]))
    stride = int(rng.integers(0, 5 if width < 16 else 4))
    least = max(5, 1 if width == 32 else (width - 1) * stride + 1)
    pitch = int(rng.integers(least, 69))
    size, swizzle = int(rng.choice([4, 8, 16])), bool(seed % 2)
    return {"pitch": pitch, "width": width, "stride": stride, "size": size, "swizzle": swizzle}


CASES = [random_case(seed) for seed in range(24)]


@cache
def kernel(size: int) -> Any:
    return compile(SOURCE, options=(f"-DSIZE={size}",)).kernels["read"]


def counted(pitch: int, width: int, stride: int, size: int, swizzle: bool) -> tuple[int, int]:
    """Run a kernel that reads these elements: wavefronts and conflicts, as the emulator counts."""
    y, span = np.zeros(32, "f4"), gcd(pitch, 128 // size) if swizzle else 1
    shared = (31 * 4 * pitch + 128) * size
    arguments = [y, pitch, width, stride, span]
    run = launch(kernel(size), 1, 32, arguments, shared=shared, device="emulator", faults="record")
    assert run.counters.requests_shared_load == 1
    return run.counters.wavefronts_shared_load, run.counters.conflicts_shared_load


@pytest.mark.parametrize("case", CASES, ids=str)
def test_wavefronts_and_conflicts_are_those_of_a_kernel_that_reads_there(case: dict[str, Any]) -> None:
    view = banks(**case)
    assert (view.wavefronts, view.conflicts) == counted(**case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_wavefront_brings_at_most_a_word_of_each_bank_and_all_bring_all(case: dict[str, Any]) -> None:
    view = banks(**case)
    asked = {i for i, kind in enumerate(view.panels[0].cell_kinds) if kind != "gap"}
    whole, *steps = view.frames
    assert len(steps) == view.wavefronts
    assert not whole.lit
    assert all(max(Counter(cell % 32 for cell in step.lit).values()) == 1 for step in steps)
    assert sorted(cell for step in steps for cell in step.lit) == sorted(asked)
    served_at_once = [i for i, kind in enumerate(view.panels[0].cell_kinds) if kind == "shared"]
    if case["size"] == 4:  # all lanes go together
        assert served_at_once == [*steps[0].lit]
    assert ("waste" in view.panels[0].cell_kinds) == bool(view.conflicts)
    for step in steps:
        assert all(view.linked(cell) == [*step.lit] for cell in step.lit)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cells_say_which_lane_asks_for_which_word(case: dict[str, Any]) -> None:
    memory, size, width = banks(**case).panels[0], case["size"], case["width"]
    words: dict[int, list[int]] = {}
    for lane in range(32):
        row, col = lane // width * case["stride"], lane % width * case["stride"]
        stored = col ^ row % gcd(case["pitch"], 128 // size) if case["swizzle"] else col
        for word in range(size // 4):
            words.setdefault((row * case["pitch"] + stored) * size // 4 + word, []).append(lane)
    first = [int(text.replace(",", "")) for text in memory.row_index]
    drawn = [start + bank for start in first for bank in range(32)]
    assert {*words} <= {*drawn}
    for word, value, label in zip(drawn, memory.values, memory.labels, strict=True):
        lanes = words.get(word, [])
        assert value == ("" if not lanes else str(lanes[0]) if len(lanes) == 1 else "+")
        assert label.startswith(f"word {word}, bank {word % 32}: ")
        who = "no lane asks for it" if not lanes else f"lane {lanes[0]}," if len(lanes) == 1 else f"{len(lanes)} lanes,"
        assert who in label
    assert [i for i in range(1, len(first)) if first[i] > first[i - 1] + 32] == [*memory.row_lines]


def test_the_facts_of_the_tiled_kernel_at_blocks_of_16_by_16() -> None:
    found = {pitch: banks(pitch, 16).wavefronts for pitch in range(16, 69)}
    assert {pitch: found[pitch] for pitch in (18, 19, 33, 48)} == {18: 2, 19: 2, 33: 2, 48: 1}
    assert [pitch for pitch, taken in found.items() if taken == 1] == [16, 48]
    assert banks(18, 16).captions[-1] == "Pitches without conflicts, as far as drawn: 16 and 48."
    assert banks(halo((16, 16), (1, 1), (3, 3)).pitch, 16).conflicts == 0


@pytest.mark.parametrize(("width", "stride"), [(32, 1), (16, 1), (8, 1), (4, 3), (1, 1), (16, 2), (8, 3)])
def test_the_table_has_the_wavefronts_of_each_pitch(width: int, stride: int) -> None:
    view = banks(68, width, stride)
    if width == 32:
        assert len(view.panels) == 1
        return
    table = dict(zip(PITCHES, view.panels[1].values, strict=True))
    fits = [pitch for pitch in PITCHES if pitch > (width - 1) * stride]
    assert {pitch: value for pitch, value in table.items() if value} == {
        pitch: str(wavefronts(pitch, width, (stride, stride))) for pitch in fits
    }
    assert [pitch for pitch, region in zip(PITCHES, view.panels[1].regions, strict=True) if region] == [68]


def test_a_column_of_a_tile_is_freed_by_one_word_more_or_by_a_swizzle() -> None:
    def taken(view: BanksView) -> tuple[int, int]:
        return view.wavefronts, view.conflicts

    assert taken(banks(32, 1)) == (32, 31)
    assert taken(banks(33, 1)) == (1, 0)
    assert taken(banks(32, 1, swizzle=True)) == (1, 0)
    assert banks(33, 1).captions[-1] == "Pitches without conflicts, as far as drawn: 5, 7, … 67."
    assert "exclusive or with its row modulo 32." in banks(32, 1, swizzle=True).captions[1]


def test_wide_elements_take_turns_without_waiting() -> None:
    view = banks(64, 32, size=16)
    assert (view.wavefronts, view.least, view.conflicts) == (4, 4, 0)
    assert "waste" not in view.panels[0].cell_kinds
    assert view.captions[0] == ("No conflict: 4 wavefronts, as few as so many words can take: 32 words each, 8 lanes.")
    assert [frame.caption for frame in view.frames[1:2]] == [
        "Wavefront 1 of 4: 32 words for 8 lanes, one of each bank at most; 0 banks are idle."
    ]


def test_one_element_for_all_is_read_once() -> None:
    view = banks(32, 16, stride=0)
    assert (view.wavefronts, view.panels[0].values[0]) == (1, "+")
    assert view.panels[0].labels[0] == "word 0, bank 0: tile[0][0], asked for by 32 lanes, wavefront 1"


def test_numbers_out_of_reach_are_refused() -> None:
    with pytest.raises(ValueError, match=r"A row takes 31 elements, more than the pitch.\n  In: .*\n  Fix: .* 31 on."):
        banks(30, 16, stride=2)
    with pytest.raises(ValueError, match=r"pitch=4 is none from 5 to 68.\n  In: views.banks\(pitch=4, "):
        banks(4, 1)
    with pytest.raises(ValueError, match=r"size=2 is none of \(4, 8, 16\)."):
        banks(size=2)
