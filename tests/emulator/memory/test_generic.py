"""Generic addresses: one access may go to global, shared and local memory at once."""

from __future__ import annotations

import numpy as np
import pytest

from ..conftest import HEAD, kernel, launch

# %rd9 is, by the thread's number mod 3, an address in global, shared or local memory, of 8 bytes for each thread
ANYWHERE = """
    .shared .align 8 .b8 tile[800]; .local .align 8 .b8 own[16];
    mul.wide.u32 %rd10, %r0, 8; rem.u32 %r1, %r0, 3;
    add.s64 %rd9, %rd1, %rd10;
    setp.eq.u32 %p1, %r1, 1; mov.u64 %rd2, tile; add.s64 %rd2, %rd2, %rd10; cvta.shared.u64 %rd3, %rd2;
    @%p1 mov.u64 %rd9, %rd3;
    setp.eq.u32 %p2, %r1, 2; mov.u64 %rd4, own; cvta.local.u64 %rd5, %rd4; @%p2 mov.u64 %rd9, %rd5;
    {body}
    mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], %r5;"""


def run(body: str, threads: int = 71, **options):
    out, scratch = np.full(threads, -1, "i4"), np.zeros((threads, 2), "i4")
    result = launch(kernel(ANYWHERE.format(body=body), 2) + '.file 1 "g.cu"\n', out, scratch, **options)
    return out, scratch, result.faults


def test_one_access_goes_to_all_three_spaces():
    out, scratch, faults = run("add.u32 %r2, %r0, 500; st.u32 [%rd9+4], %r2; ld.u32 %r5, [%rd9+4];")
    numbers = np.arange(71)
    assert (out == 500 + numbers).all()
    assert (scratch[:, 1] == np.where(numbers % 3 == 0, 500 + numbers, 0)).all()
    assert not faults


def test_vectors_and_narrow_values_go_there_too():
    out, _, faults = run("""
        st.v2.u32 [%rd9], {%r0, %r1}; ld.v2.u32 {%r6, %r7}, [%rd9]; mad.lo.u32 %r5, %r7, 1000, %r6;
        cvt.u16.u32 %h1, %r0; st.u8 [%rd9+3], %h1; ld.u8 %h2, [%rd9+3];
        cvt.u32.u16 %r8, %h2; mad.lo.u32 %r5, %r8, 10000, %r5;""")
    numbers = np.arange(71)
    assert (out == numbers + 1000 * (numbers % 3) + 10000 * numbers).all()
    assert not faults


def test_atomics_go_there_too():
    out, scratch, faults = run("st.u32 [%rd9], 40; atom.add.u32 %r6, [%rd9], %r0; ld.u32 %r5, [%rd9];")
    assert (out == 40 + np.arange(71)).all()
    assert (scratch[::3, 0] == 40 + np.arange(0, 71, 3)).all()
    assert not faults


def test_an_address_says_itself_where_it_lies():
    spaces = ("global", "shared", "local")
    asks = "".join(
        f"isspacep.{space} %p3, %rd9; selp.u32 %r6, {10**n}, 0, %p3; add.u32 %r5, %r5, %r6;"
        for n, space in enumerate(spaces)
    )
    out, _, _ = run(f"mov.u32 %r5, 0; {asks}", 6)
    assert out.tolist() == [1, 10, 100] * 2


def test_to_and_from_a_space_is_where_it_was():
    text = """
        .shared .align 4 .b8 tile[64];
        mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; cvta.to.shared.u64 %rd4, %rd3; st.shared.u32 [%rd4+8], 7;
        ld.shared.u32 %r5, [tile+8]; st.u32 [%rd3+12], 9; ld.shared.u32 %r6, [tile+12];
        mad.lo.u32 %r5, %r6, 100, %r5; cvta.to.global.u64 %rd5, %rd0; st.global.u32 [%rd5], %r5;"""
    out = np.zeros(1, "i4")
    assert not launch(kernel(text), out).faults
    assert out[0] == 907


def test_a_name_without_a_space_is_reached_generically():
    head = HEAD + ".global .align 4 .u32 counter[2] = {5, 6};\n"
    text = """
        .shared .align 4 .b8 tile[8]; st.shared.u32 [tile+4], 70;
        ld.u32 %r5, [counter+4]; ld.u32 %r6, [tile+4]; add.u32 %r5, %r5, %r6; st.u32 [%rd0], %r5;"""
    out = np.zeros(1, "i4")
    assert not launch(kernel(text, head=head), out).faults
    assert out[0] == 76


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        (
            "ld.u32 %r5, [%rd9+2];",
            [("misaligned", "global", 24), ("misaligned", "shared", 24), ("misaligned", "local", 23)],
        ),
        (
            "st.u32 [%rd9+4000], %r0;",
            [("out_of_bounds", "global", 24), ("out_of_bounds", "shared", 24), ("out_of_bounds", "local", 23)],
        ),
    ],
)
def test_a_bad_generic_access_is_said_of_the_space_it_is_in(body, faults):
    _, _, found = run(body)
    bad = [(f.kind, f.space, f.count) for f in found if f.kind != "uninitialized"]
    assert sorted(bad) == sorted(faults)


def test_a_null_pointer_is_none_in_generic_space_as_well():
    _, _, (fault,) = run("mov.u64 %rd9, 0; ld.u32 %r5, [%rd9+16];", 3)
    assert "reads 4 bytes at address 0x10, through a null pointer" in fault.message
