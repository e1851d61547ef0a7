"""Instructions with operands that they cannot have: refused in words of ours, or run; never a traceback from inside."""

from __future__ import annotations

import pytest

from convlab.errors import ConvlabError

from .test_hostile import kernel, run

INSTRUCTIONS = [
    *["bar.warp.sync;", "brx.idx;", "brx.idx %r1;", "bar.sync;", "bar.sync [%rd0];", "bar.red.popc.u32 %r1;", "call;"],
    *["shfl.sync.idx.b32 %r1;", "shfl.sync.idx.b32 %r1, %r2, 0, 31;", "vote.sync.any.pred %p1, %p2;", "ret %r1;"],
    *[
        "bar.arrive;",
        "bar.arrive 1;",
        "mov.u32;",
        "st.local.u32;",
        "atom.global.cas.b64 %rd1, [%rd0];",
        "red.add.u32 [%rd0];",
    ],
    *["match.any.sync.b32 %r1, %p1, -1;", "redux.sync.add.f32 %r1, %r2, -1;", "activemask.b32;", "bra;", "@%r1 bra L;"],
    *[
        "atom.global.cas.b32 %r1, [%rd0], %r2;",
        "atom.global.add.u32 [%rd0], %r1;",
        "ld.global.u32 %r1;",
        "st.global.u32;",
    ],
    *[
        "shl.f32 %r1, %r2, 1;",
        "popc.f32 %r1, %r2;",
        "and.f32 %r1, %r2, %r3;",
        "setp.lt.pred %p1, %p2, %p3;",
        "mov.pred %r1, 5;",
    ],
    *[
        "cvt.u32.pred %r1, %p1;",
        "add.u32 %r1, %p1, %p2;",
        "selp.u32 %r1, %r2, %r3, %r4;",
        "ld.global.pred %p1, [%rd0];",
    ],
    *[
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r1}, {%r2}, {%r3}, {%r4};",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r2];",
    ],
    *[
        "cp.async.ca.shared.global [%r1], [%rd0], 3;",
        "cp.async.wait_group %r1;",
        "cp.async.cg.shared.global [%r1], [%rd0], 16, %p1, %r2;",
    ],
    *[
        "cvta.global.u32 %r1, %r2;",
        "isspacep.param %p1, %rd0;",
        "mov.u32 %tid.x, 5;",
        "mov.u32 %r1, %tid.w;",
        "ld.const.u32 %r1, [f];",
    ],
    *["mov.u32 %r1, 1e999;", "mov.f32 %r1, 1e999;", "mov.u8 %r1, 2.5;", "st.global.u32 [%rd0], 0d7FF0000000000000;"],
]


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_an_instruction_that_is_wrong_is_refused_or_runs(instruction):
    opcode = instruction.removeprefix("@%r1 ").split()[0].rstrip(";")
    message = opcode
    try:
        run(kernel(f"{instruction}\nL: mov.u32 %r1, 0;"), threads=40)
    except ConvlabError as error:
        message = str(error)
    assert opcode in message or "PTX" in message
