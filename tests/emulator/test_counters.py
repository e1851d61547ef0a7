from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator import UNOBSERVED, Counters
from convlab.emulator.counters import count_sectors

from .conftest import kernel, launch

# out[tid] = in[map(tid)]: the map gives the index of the element, of 4 bytes
GATHER = """
    mul.wide.u32 %rd10, %r0, 4; add.s64 %rd12, %rd2, %rd10; ld.global.u32 %r1, [%rd12];
    mul.wide.s32 %rd13, %r1, 4; add.s64 %rd14, %rd1, %rd13; ld.global.f32 %f1, [%rd14];
    add.s64 %rd15, %rd0, %rd10; st.global.f32 [%rd15], %f1;"""


def sectors(index) -> int:
    """Sectors of the one gather: the loads of the map itself, which are coalesced, are taken off."""
    index = np.asarray(index, "i4")
    x = np.random.default_rng(0).random(int(index.max()) + 1, "f4")
    out = np.zeros(index.size, "f4")
    counters = launch(kernel(GATHER, 3), out, x, index).counters
    assert (out == x[index]).all()
    assert counters.requests_global_load == 2 * -(-index.size // 32)
    assert counters.sectors_global_store == -(-index.size // 8)
    return counters.sectors_global_load - -(-index.size // 8)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (np.arange(32), 4),  # 128 bytes in a row
        (np.arange(32) + 1, 5),  # the same, shifted by an element
        (np.arange(32)[::-1], 4),  # order does not matter
        (np.arange(32) * 2, 8),
        (np.arange(32) * 8, 32),  # a sector each
        (np.arange(32) * 100, 32),
        (np.zeros(32, int), 1),  # everybody the same
        (np.arange(32) % 2 * 64, 2),  # two places, alternating: each counts once
        (np.arange(40), 5),  # a full warp and a quarter
        ([7], 1),
    ],
)
def test_sectors_of_one_load(index, expected):
    assert sectors(index) == expected


def test_sectors_agree_with_sets_on_random_addresses():
    rng = np.random.default_rng(5)
    address = rng.integers(0, 3000, 700) * 4
    warp = np.repeat(np.arange(20), rng.integers(1, 33, 20))
    address = address[: warp.size]
    expected = sum(len({int(a) // 32 for a in address[warp == w]}) for w in set(warp.tolist()))
    assert count_sectors(address, warp) == expected


def test_a_wide_load_is_one_request():
    text = kernel(
        """
        mul.wide.u32 %rd10, %r0, 16; add.s64 %rd11, %rd1, %rd10; ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd11];
        add.s64 %rd12, %rd0, %rd10; st.global.v4.f32 [%rd12], {%f3, %f2, %f1, %f0};""",
        2,
    )
    x = np.arange(256, dtype="f4").reshape(64, 4)
    out = np.zeros_like(x)
    counters = launch(text, out, x, block=(64, 1, 1)).counters
    assert (out == x[:, ::-1]).all()
    assert (counters.requests_global_load, counters.sectors_global_load) == (2, 32)
    assert (counters.requests_global_store, counters.sectors_global_store) == (2, 32)


def test_instructions_count_warps_that_are_there_and_lanes_that_are_active():
    # 70 threads: 3 warps. Then only threads 0 … 9 (one warp) execute one instruction more.
    text = kernel(".loc 1 3 1\nsetp.ge.u32 %p1, %r0, 10; @%p1 bra END;\n.loc 1 4 1\nmov.u32 %r1, 1;\n.loc 1 5 1\nEND:")
    result = launch(text + '.file 1 "a.cu"\n', np.zeros(70, "i4"))
    lines = {line: counts for (_, line), counts in result.lines.items()}
    assert (lines[3].instructions, lines[3].thread_instructions) == (2 * 3, 2 * 70)
    assert (lines[4].instructions, lines[4].thread_instructions, lines[4].active_lanes) == (1, 10, 10.0)
    assert (lines[5].instructions, lines[5].thread_instructions) == (3, 70)
    assert result.counters.instructions == sum(c.instructions for c in result.lines.values())


def test_flop_counts_additions_and_products_once_and_fused_ones_twice():
    text = kernel("""
        mov.f32 %f1, 0f3F800000; add.f32 %f2, %f1, %f1; mul.f32 %f3, %f2, %f2; fma.rn.f32 %f4, %f3, %f3, %f1;
        sqrt.rn.f32 %f5, %f4; add.s32 %r1, %r0, 1; cvt.f64.f32 %d1, %f4; fma.rn.f64 %d2, %d1, %d1, %d1;""")
    assert launch(text, np.zeros(10, "i4")).counters.flop == 10 * (1 + 1 + 2 + 2)


def test_counters_answer_by_attribute_and_key_and_name_what_exists():
    counters = Counters({"instructions": 3})
    assert counters.instructions == counters["instructions"] == 3
    assert counters.sectors_global_load == 0
    with pytest.raises(AttributeError, match=r"no counter 'sectors' here. The counters are: instructions, "):
        _ = counters.sectors


def test_a_run_without_observers_says_so():
    result = launch(kernel("mov.u32 %r1, 0;"), np.zeros(4, "i4"), observe=False)
    assert result.counters is UNOBSERVED
    assert result.lines == {}
    with pytest.raises(AttributeError, match="This run was not observed: launch with device='emulator'"):
        _ = result.counters.instructions


def test_sectors_per_request():
    counters = Counters({"requests_global_load": 4, "sectors_global_load": 10})
    assert (counters.sectors_per_request_load, counters.sectors_per_request_store) == (2.5, 0.0)


def test_an_address_that_is_the_same_for_all_is_a_sector_for_each_warp():
    text = kernel("ld.global.f32 %f1, [%rd0]; ld.global.v2.f32 {%f2, %f3}, [%rd0];")
    counters = launch(text, np.zeros(8, "f4"), block=(70, 1, 1)).counters
    assert (counters.requests_global_load, counters.sectors_global_load) == (6, 6)


def test_flop_of_a_line_are_those_of_its_own_instructions():
    text = kernel(
        ".loc 1 3 1\nadd.s32 %r1, %r0, 1;\n.loc 1 4 1\nmov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, %f1;"
    )
    lines = launch(text + '.file 1 "a.cu"\n', np.zeros(10, "i4")).lines
    assert [lines["a.cu", line].flop for line in (3, 4)] == [0, 20]
