from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.blocks import split
from convlab.emulator.call_graph import reached
from convlab.emulator.code import IMPATIENT, PATIENT
from convlab.emulator.machine import CHUNK
from convlab.emulator.parse import parse
from convlab.emulator.waiting import patience, waiting

from .conftest import HEAD, kernel, launch

PEEK = """.func (.param .b32 r) peek(.param .b64 p) {
    .reg .b64 a; .reg .b32 v; ld.param.b64 a, [p]; ld.volatile.global.u32 v, [a]; st.param.b32 [r], v; ret; }
.func (.param .b32 r) look(.param .b64 p) {
    .reg .b32 v; .param .b32 q; call (q), peek, (p); ld.param.b32 v, [q]; st.param.b32 [r], v; ret; }
.func (.param .b32 r) add(.param .b64 p) {
    .reg .b64 a; .reg .b32 v; ld.param.b64 a, [p]; ld.global.u32 v, [a]; st.param.b32 [r], v; ret; }
"""
CALL = "{{ .param .b64 a; .param .b32 q; st.param.b64 [a], %rd0; call (q), {name}, (a); ld.param.b32 %r2, [q]; }}"


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("ld.global.u32 %r2, [%rd0];", PATIENT),
        ("ld.volatile.global.u32 %r2, [%rd0];", IMPATIENT),
        ("ld.relaxed.gpu.global.u32 %r2, [%rd0];", IMPATIENT),
        ("ld.global.cg.u32 %r2, [%rd0];", IMPATIENT),
        ("atom.global.cas.b32 %r2, [%rd0], 0, 1;", IMPATIENT),
        ("atom.global.exch.b32 %r2, [%rd0], 1;", IMPATIENT),
        ("atom.global.add.u32 %r2, [%rd0], 0;", IMPATIENT),
        ("atom.global.add.u32 %r2, [%rd0], 1;", PATIENT),
        ("nanosleep.u32 20;", IMPATIENT),
        ("membar.gl;", IMPATIENT),
        (CALL.format(name="peek"), IMPATIENT),
        (CALL.format(name="look"), IMPATIENT),
        (CALL.format(name="add"), PATIENT),
    ],
)
def test_loops_that_may_wait(inside, expected):
    text = kernel(
        f"ld.volatile.global.u32 %r2, [%rd0]; LOOP: {inside} setp.eq.u32 %p1, %r2, 0; @%p1 bra LOOP;", head=HEAD + PEEK
    )
    entry = parse(text).entries["f"]
    found = patience(entry, split(entry), waiting(reached(entry)))
    assert sorted(found)[-1] == expected
    assert sum(map(bool, found)) == 1


def test_a_function_looks_at_the_flag_of_a_block_that_is_not_in_the_same_chunk():
    last = CHUNK // 1024
    text = kernel(
        f"""
        mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, {last}; @%p1 bra WRITE;
        LOOP: {CALL.format(name="peek")} setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOP;
        bra END;
        WRITE: st.volatile.global.u32 [%rd0], 1;
        END:""",
        head=HEAD + PEEK,
    )
    assert not launch(text, np.zeros(1, "u4"), grid=(last + 1, 1, 1), block=(1024, 1, 1), budget=1000).faults
