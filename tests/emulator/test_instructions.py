"""Instructions with answers known by heart, and what the table lacks; `numerics` tests each one against an oracle."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import UnsupportedInstruction

from .conftest import kernel, launch


def test_a_fused_multiply_add_between_two_neighbours(elementwise):
    # 2^23+1 is halfway between floats at 2^24; the tiny addend decides, and a sum in double precision loses it.
    a, b, c = (np.array([v], "f4") for v in (4097.0, 4097.0, 2.0**-60))
    assert float(elementwise("fma.rn.f32", "f4", a, b, c)[0]) == 2.0**24 + 2**13 + 2


def test_conversions_between_integers_extend_by_the_source_and_cut_by_the_target(elementwise):
    a = np.array([-1, -2, 127, 2**31 - 1, -(2**31)], "i4")
    assert elementwise("cvt.s64.s32", "i8", a).tolist() == a.tolist()
    assert elementwise("cvt.u64.u32", "u8", a.view("u4")).tolist() == a.view("u4").tolist()
    wide = np.array([2**32 + 5, -1, 2**40 - 1], "i8")
    assert elementwise("cvt.u32.u64", "u4", wide).tolist() == [5, 2**32 - 1, 2**32 - 1]


def test_conversions_from_float_round_saturate_and_make_nan_zero(elementwise):
    a = np.array([1.5, 2.5, -1.5, -0.5, 3e9, -3e9, np.inf, -np.inf, np.nan], "f4")
    top, low = 2**31 - 1, -(2**31)
    assert elementwise("cvt.rzi.s32.f32", "i4", a).tolist() == [1, 2, -1, 0, top, low, top, low, 0]
    assert elementwise("cvt.rni.s32.f32", "i4", a).tolist() == [2, 2, -2, 0, top, low, top, low, 0]
    assert elementwise("cvt.rmi.s32.f32", "i4", a).tolist() == [1, 2, -2, -1, top, low, top, low, 0]
    assert elementwise("cvt.rpi.s32.f32", "i4", a).tolist() == [2, 3, -1, 0, top, low, top, low, 0]
    assert elementwise("cvt.rzi.u32.f32", "u4", a).tolist() == [1, 2, 0, 0, 3000000000, 0, 2**32 - 1, 0, 0]
    assert elementwise("cvt.rzi.s64.f32", "i8", np.array([1e30, -1e30], "f4")).tolist() == [2**63 - 1, -(2**63)]


def test_conversions_to_float_round_to_nearest(elementwise):
    a = np.array([2**24 + 1, 2**31 - 1, -7], "i4")
    assert elementwise("cvt.rn.f32.s32", "f4", a).tolist() == [2.0**24, 2.0**31, -7.0]
    d = np.array([1 / 3, 1e-50, 1 + 2**-24], "f8")
    assert elementwise("cvt.rn.f32.f64", "f4", d).tolist() == [float(np.float32(1 / 3)), 0.0, 1.0]
    assert elementwise("cvt.f64.f32", "f8", np.array([0.1], "f4"))[0] == float(np.float32(0.1))


def test_nan_becomes_zero_or_with_64_bits_the_highest_bit(elementwise):
    single, double = np.array([np.nan], "f4"), np.array([np.nan], "f8")
    assert elementwise("cvt.rzi.u32.f32", "u4", single)[0] == 0
    assert elementwise("cvt.rzi.s32.f64", "i4", double)[0] == -(2**31)
    assert elementwise("cvt.rzi.s64.f32", "i8", single)[0] == -(2**63)
    assert elementwise("cvt.rzi.u64.f64", "u8", double)[0] == 2**63


def test_flushing_concerns_floats_only(elementwise):
    a = np.array([1e-40, 2.7, -3.2], "f4")
    assert elementwise("cvt.rzi.ftz.s32.f32", "i4", a).tolist() == [0, 2, -3]


def test_floats_round_to_whole_floats(elementwise):
    a = np.array([1.5, 2.5, -1.5, -0.5, 1e20, -np.inf], "f4")
    assert elementwise("cvt.rzi.f32.f32", "f4", a).tolist() == [1, 2, -1, 0, float(np.float32(1e20)), -np.inf]
    assert elementwise("cvt.rni.f32.f32", "f4", a)[:4].tolist() == [2, 2, -2, 0]
    assert elementwise("cvt.rmi.f32.f32", "f4", a)[:4].tolist() == [1, 2, -2, -1]
    assert elementwise("cvt.rpi.f32.f32", "f4", a)[:4].tolist() == [2, 3, -1, 0]
    assert elementwise("copysign.f32", "f4", a, np.abs(a))[3] == 0.5 * -1


@pytest.mark.parametrize("opcode", ["div.approx.f32", "div.full.f32"])
def test_approximate_division_divides_the_first_by_the_second(elementwise, opcode):
    a, b = np.array([1, 6, -9], "f4"), np.array([4, 3, 2], "f4")
    assert elementwise(opcode, "f4", a, b).tolist() == [0.25, 2, -4.5]


@pytest.mark.parametrize(("kind", "value"), [("s8", -56), ("u8", 200)])
def test_a_narrow_load_extends_by_its_own_sign(kind, value):
    out, x = np.zeros(1, "i4"), np.array([200], "u1")
    launch(kernel(f"ld.global.{kind} %r1, [%rd1]; st.global.b32 [%rd0], %r1;", 2), out, x)
    assert out.tolist() == [value]


@pytest.mark.parametrize(("kind", "value"), [("b8", 200), ("s8", -56)])
def test_bits_go_into_a_wider_register_with_zeros(kind, value):
    out, x = np.zeros(1, "i4"), np.array([200], "u1")
    launch(kernel(f"ld.global.{kind} %h1, [%rd1]; cvt.s32.s16 %r1, %h1; st.global.b32 [%rd0], %r1;", 2), out, x)
    assert out.tolist() == [value]


@pytest.mark.parametrize("opcode", ["frobnicate", "sin.approx.f64", "cvt.rs.f16x2.f32", "add.rn.f8"])
def test_what_the_table_lacks_names_the_instruction_the_line_and_the_way_out(opcode):
    text = kernel(f".loc 1 12 3\n{opcode} %f1, %f2, %f3;")
    with pytest.raises(UnsupportedInstruction) as caught:
        launch(text + '.file 1 "mine.cu"\n', np.zeros(1, "f4"))
    assert f"mine.cu:12: the emulator does not execute `{opcode}`" in str(caught.value)
    assert "device='cuda'" in str(caught.value)


def test_vectors_are_copied_whole_also_onto_themselves():
    out = np.array([1, 2, 3, 4], "u4")
    body = """
        .reg .v4 .u32 v, w; ld.global.v4.u32 v, [%rd0]; mov.v4.u32 w, v; mov.v4.u32 {w.w, w.z, w.y, w.x}, w;
        mov.v2.u32 {%r1, %r2}, {w.y, 7}; add.u32 w.x, w.x, %r1; add.u32 w.x, w.x, %r2; st.global.v4.u32 [%rd0], w;"""
    launch(kernel(body), out, block=(1, 1, 1))
    assert out.tolist() == [4 + 3 + 7, 3, 2, 1]


def test_what_an_atomic_of_a_vector_finds_does_not_change_what_it_adds():
    out = np.array([10, 20, 1, 2], "f4")
    body = """
        ld.global.v2.f32 {%f1, %f2}, [%rd0+8]; atom.global.v2.f32.add {%f2, %f1}, [%rd0], {%f1, %f2};
        st.global.v2.f32 [%rd0+8], {%f1, %f2};"""
    launch(kernel(body).replace("atom.global.v2.f32.add", "atom.global.add.v2.f32"), out, block=(1, 1, 1))
    assert out.tolist() == [11, 22, 20, 10]


def test_the_address_of_a_variable_does_not_fit_32_bits():
    with pytest.raises(UnsupportedInstruction, match=r"module.ptx:.*`mov.u32` \(the address of p0 in 32 bits\)"):
        launch(kernel("mov.u32 %r1, p0;"), np.zeros(1, "u4"))
