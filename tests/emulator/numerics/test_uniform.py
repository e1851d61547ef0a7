"""Registers that are the same for all lanes are scalars: every form gives the same for them as for arrays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ..conftest import REGISTERS, kernel, launch

# opcode, bytes of the result, bytes of each operand
FORMS = """
add.s32 4 44, sub.u64 8 88, mul.lo.u32 4 44, mul.hi.s32 4 44, mul.hi.s64 8 88, mul.hi.u64 8 88, mul.wide.s16 4 22,
mad.wide.u32 8 448, mad.lo.s16 2 222, sad.u32 4 444, div.s32 4 44, rem.s64 8 88, min.u16 2 22, abs.s32 4 4,
neg.s64 8 8, mul24.hi.s32 4 44, add.sat.s32 4 44, mad.hi.sat.s32 4 444, max.relu.s16x2 4 44, add.u16x2 4 44,
and.b64 8 88, not.b16 2 2, popc.b64 4 8, clz.b32 4 4, brev.b32 4 4, cnot.b32 4 4, bfind.s64 4 8,
bfind.shiftamt.u32 4 4, fns.b32 4 444, bfi.b64 8 8844, bfe.s32 4 444, bmsk.clamp.b32 4 44, szext.wrap.s32 4 44,
shf.l.wrap.b32 4 444, shf.r.clamp.b32 4 444, prmt.b32 4 444, prmt.b32.ecl 4 444, shl.b64 8 84, shr.s16 2 24,
dp4a.s32.u32 4 444, dp2a.hi.u32.s32 4 444, vadd.s32.u32.s32.sat 4 44, vavrg4.s32.s32.s32 4 444,
vset2.u32.s32.lt.add 4 444, vmad.s32.s32.u32.shr7 4 444, add.f32 4 44, sub.rm.f32 4 44, mul.rz.f64 8 88,
fma.rp.f32 4 444, fma.rn.f64 8 888, div.rz.f32 4 44, div.rp.f64 8 88, sqrt.rm.f32 4 4, sqrt.rz.f64 8 8,
rcp.rp.f32 4 4, min.f32 4 44, max.NaN.f64 8 88, min.xorsign.abs.f32 4 44, add.ftz.sat.f32 4 44, copysign.f64 8 88,
ex2.approx.f32 4 4, rcp.approx.ftz.f64 8 8, tanh.approx.f16x2 4 4, add.f16 2 22, mul.bf16 2 22, fma.rn.f16 2 222,
fma.rn.relu.bf16x2 4 444, fma.rn.ftz.f16x2 4 444, max.NaN.f16x2 4 44, neg.bf16x2 4 4, add.rz.f32.f16 4 24,
fma.rn.f32.bf16 4 224, set.lt.f16x2.f16x2 4 44, set.ne.u32.f64 4 88, slct.s64.f32 8 884, cvt.rzi.s32.f32 4 4,
cvt.rni.u64.f64 8 8, cvt.rzi.u16.f16 2 2, cvt.rn.f32.s64 4 8, cvt.rz.f64.u64 8 8, cvt.rp.bf16.s64 2 8,
cvt.rm.f16.f32 2 4, cvt.rn.f16.f64 2 8, cvt.rn.bf16x2.f32 4 44, cvt.f32.bf16 4 2, cvt.f64.f16 8 2,
cvt.rna.tf32.f32 4 4, cvt.rn.satfinite.e4m3x2.f32 2 44, cvt.rn.f16x2.e5m2x2 4 2, cvt.sat.s8.s32 2 4, cvt.s64.s32 8 4,
cvt.rpi.f32.f32 4 4, cvt.pack.sat.u8.s32.b32 4 444
"""


def _forms() -> list[tuple[str, int, list[int]]]:
    rows = (form.split() for form in FORMS.split(","))
    return [(opcode, int(result), [int(size) for size in sizes]) for opcode, result, sizes in rows]


def run(opcode: str, size: int, inputs: list[np.ndarray], uniform: set[int]) -> list[int]:
    """One instruction on all lanes, with some operands from parameters, which are scalars: those of lane 0."""
    out = np.zeros(inputs[0].size, f"u{size}")
    text, arguments = [f".reg .{REGISTERS[size]} %out;"], []
    for n, x in enumerate(inputs, start=1):
        bits = 8 * x.itemsize
        text.append(f".reg .{REGISTERS[x.itemsize]} %in{n};")
        if n in uniform:
            text.append(f"ld.param.b{bits} %in{n}, [p{n}];")
        else:
            text.append(f"mul.wide.u32 %rd10, %r0, {x.itemsize}; add.s64 %rd11, %rd{n}, %rd10;")
            text.append(f"ld.global.b{bits} %in{n}, [%rd11];")
        arguments.append(x[:1].tobytes().ljust(8, b"\0") if n in uniform else x)
    operands = ", ".join(f"%in{n}" for n in range(1, len(inputs) + 1))
    text.append(f"{opcode} %out, {operands}; mul.wide.u32 %rd10, %r0, {size}; add.s64 %rd11, %rd0, %rd10;")
    text.append(f"st.global.b{8 * size} [%rd11], %out;")
    copies = [x.copy() for x in inputs]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(kernel("\n".join(text), len(inputs) + 1), out, *arguments)
    assert all((x == y).all() for x, y in zip(inputs, copies, strict=True))
    return out.tolist()


@pytest.mark.parametrize(("opcode", "size", "sizes"), _forms())
def test_scalars_and_arrays_give_the_same(opcode, size, sizes):
    rng = np.random.default_rng(8)
    for _ in range(2):
        inputs = [np.frombuffer(rng.bytes(5 * n), f"u{n}") for n in sizes]
        same = [np.repeat(x[:1], 5) for x in inputs]
        expected = run(opcode, size, same, set())
        assert run(opcode, size, same, set(range(1, len(sizes) + 1))) == expected
        for alone in range(1, len(sizes) + 1):
            mixed = [np.repeat(x[:1], 5) if n == alone else x for n, x in enumerate(inputs, start=1)]
            assert run(opcode, size, mixed, {alone}) == run(opcode, size, mixed, set())
