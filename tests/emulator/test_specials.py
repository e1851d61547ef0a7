from __future__ import annotations

import numpy as np
import pytest

from .conftest import kernel, launch

GRID, BLOCK = (2, 3, 2), (5, 3, 4)  # blocks of 60 threads: a full warp and one of 28
THREADS, BLOCKS = 60, 12


def registers(name: str, shared: int = 0, wide: bool = False) -> np.ndarray:
    """What a special register holds, for each block and thread."""
    take = f"mov.u64 %rd5, {name};" if wide else f"mov.u32 %r5, {name}; cvt.u64.u32 %rd5, %r5;"
    text = kernel(f"""
        .reg .b32 %b<9>; .shared .align 8 .b8 fixed[48];
        mov.u32 %b0, %ctaid.x; mov.u32 %b1, %ctaid.y; mov.u32 %b2, %ctaid.z;
        mad.lo.u32 %b3, %b2, 3, %b1; mad.lo.u32 %b3, %b3, 2, %b0;
        mov.u32 %b4, %tid.x; mov.u32 %b5, %tid.y; mov.u32 %b6, %tid.z;
        mad.lo.u32 %b7, %b6, 3, %b5; mad.lo.u32 %b7, %b7, 5, %b4;
        mad.lo.u32 %b3, %b3, 60, %b7; mul.wide.u32 %rd10, %b3, 8; add.s64 %rd11, %rd0, %rd10;
        setp.eq.u32 %p1, %b7, 0; @%p1 st.shared.u32 [fixed], %r0;
        {take} st.global.u64 [%rd11], %rd5;""")
    out = np.zeros((BLOCKS, THREADS), "u8")
    assert not launch(text, out, grid=GRID, block=BLOCK, shared=shared).faults
    return out


LANE = np.arange(THREADS) % 32
CASES = {
    "%laneid": LANE,
    "%warpid": np.arange(THREADS) // 32,
    "%nwarpid": 2,
    "WARP_SZ": 32,
    "%lanemask_eq": [1 << n for n in LANE],
    "%lanemask_lt": [(1 << n) - 1 for n in LANE],
    "%lanemask_le": [(2 << n) - 1 for n in LANE],
    "%lanemask_gt": [sum(1 << m for m in range(n + 1, 32)) for n in LANE],
    "%lanemask_ge": [sum(1 << m for m in range(n, 32)) for n in LANE],
    "%ntid.x": 5,
    "%ntid.y": 3,
    "%ntid.z": 4,
    "%nctaid.y": 3,
    "%cluster_nctaid.z": 1,
    "%cluster_ctaid.x": 0,
    "%cluster_ctarank": 0,
    "%dynamic_smem_size": 100,
    "%total_smem_size": 148,
}


@pytest.mark.parametrize("name", CASES)
def test_a_special_register_holds_what_ptx_says(name):
    assert (registers(name, shared=100) == np.broadcast_to(CASES[name], (BLOCKS, THREADS))).all()


def test_the_block_of_a_cluster_is_the_block():
    expected = np.arange(BLOCKS)
    assert (registers("%clusterid.x")[:, 0] == expected % 2).all()
    assert (registers("%clusterid.z") == (expected // 6)[:, None]).all()


def test_each_block_runs_on_one_multiprocessor():
    found = registers("%smid")
    assert (found == found[:, :1]).all()
    assert found.max() < registers("%nsmid").min()


@pytest.mark.parametrize("name", ["%clock", "%clock64", "%globaltimer"])
def test_clocks_go_on(name):
    wide = name != "%clock"
    kind, registers_ = ("u64", ("%rd5", "%rd6", "%rd7")) if wide else ("u32", ("%r5", "%r6", "%r7"))
    first, second, apart = registers_
    extend = "" if wide else "cvt.u64.u32 %rd7, %r7;"
    text = kernel(f"""
        mov.{kind} {first}, {name}; bra NEXT;
        NEXT: add.u32 %r1, %r0, 1; bra LAST;
        LAST: mov.{kind} {second}, {name}; sub.{kind} {apart}, {second}, {first}; {extend}
        mul.wide.u32 %rd10, %r0, 8; add.s64 %rd11, %rd0, %rd10; st.global.u64 [%rd11], %rd7;""")
    out = np.zeros(40, "u8")
    launch(text, out)
    assert (out > 0).all()
    assert (out < 100).all()


def test_the_fourth_part_and_the_upper_half_of_clocks_are_zero():
    for name in ("%tid.w", "%ntid.w", "%ctaid.w", "%nctaid.w", "%clock_hi", "%globaltimer_hi"):
        assert not registers(name).any()
