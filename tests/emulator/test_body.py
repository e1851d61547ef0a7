from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.parse import parse
from convlab.emulator.program import Address, Function, Immediate, Instruction, Register, Symbol, Vector
from convlab.errors import CompileError

from .conftest import HEAD, kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"


def function(text: str, before: str = "") -> Function:
    return parse(
        f"{HEAD}{before}.visible .entry f(.param .u64 p) {{ .reg .b32 %r<4>; .reg .pred %p<2>; {text} }}"
    ).entries["f"]


def body(text: str) -> list[Instruction]:
    return function(text).instructions


def run(text: str, threads: int = 5, functions: str = "") -> list[int]:
    """What a kernel's threads leave in out[tid]."""
    out = np.full(threads, -1, "i4")
    assert not launch(kernel(text, head=HEAD + functions), out).faults
    return out.tolist()


def test_operands_of_every_kind():
    (mov,) = body("mov.v2.u32 {%r0, %r1}, [%r2+-4];")
    assert mov.operands == (Vector((Register("%r0"), Register("%r1"))), Address(Register("%r2"), -4))
    (add,) = body("add.s32 %r0, %r1, -7;")
    assert add.operands[2] == Immediate(-7)
    (setp,) = body("setp.eq.s32 %p0|%p1, %r0, %r1;")
    assert setp.operands[0] == Vector((Register("%p0"), Register("%p1")))
    (load,) = body("ld.param.u64 %r0, [p+8];")
    assert load.operands[1] == Address(Symbol("p"), 8)
    (load,) = body("ld.param.u64 %r0, [p+4*(2+1)-2];")
    assert load.operands[1] == Address(Symbol("p"), 10)
    (load,) = body("ld.global.u32 %r0, [4096];")
    assert load.operands[1] == Address(Immediate(4096))


def test_a_guard_belongs_to_its_instruction():
    plain, guarded = body("ret; @!%p1 ret;")
    assert plain.guard is None
    assert guarded.guard == Register("%p1", negated=True)


def test_lines_follow_loc_also_through_inlined_calls_and_line_zero():
    text = (
        f"{HEAD}.visible .entry f() {{\n.loc 1 7 3\nret;\n.loc 1 0 3\nret;\n.loc 2 4 1, function_name $L, "
        "inlined_at 1 7 3\nret;\n.loc 2 9 5, function_name $L, inlined_at 2 4 1\nret;\n}\n"
        '.file 1 "mine.cu"\n.file 2 "common.cuh"\n'
    )
    first, moved, inlined, twice = (instruction.place for instruction in parse(text).entries["f"].instructions)
    assert str(first) == str(moved) == "mine.cu:7"
    assert (str(inlined), inlined.callers) == ("common.cuh:4", (("mine.cu", 7),))
    assert (str(twice), twice.callers) == ("common.cuh:9", (("common.cuh", 4), ("mine.cu", 7)))


def test_a_name_of_an_inner_scope_hides_the_outer_one_until_its_brace():
    text = f"""
        mov.u32 %r2, 1;
        {{ .reg .b32 %r2; mov.u32 %r2, 70; {{ .reg .u32 %r2; mov.u32 %r2, 500; }} add.u32 %r3, %r2, %r0; }}
        add.u32 %r3, %r3, %r2; {STORE.format(value="%r3")}"""
    assert run(text) == [71 + t for t in range(5)]


def test_scopes_side_by_side_have_registers_of_their_own():
    text = f"""
        mov.u32 %r3, 0;
        {{ .reg .b32 t; mov.u32 t, 3; add.u32 %r3, %r3, t; }}
        {{ .reg .b64 t; mov.u64 t, 40; cvt.u32.u64 %r4, t; add.u32 %r3, %r3, %r4; }}
        {STORE.format(value="%r3")}"""
    assert run(text, 2) == [43, 43]


def test_a_label_inside_of_braces_is_its_own():
    # as CUDA's inline assembly has them: the same text twice, each with a label of the same name
    part = "{ .reg .pred q; setp.lt.u32 q, %r0, 2; @q bra SKIP; add.u32 %r2, %r2, 10; SKIP: add.u32 %r2, %r2, 1; }"
    assert run(f"mov.u32 %r2, 0; {part} {part} {STORE.format(value='%r2')}") == [2, 2, 22, 22, 22]


def test_a_label_of_an_outer_scope_is_reached_from_inside():
    text = (
        f"mov.u32 %r2, 5; {{ setp.lt.u32 %p1, %r0, 2; @%p1 bra END; mov.u32 %r2, 9; }} END: {STORE.format(value='%r2')}"
    )
    assert run(text, 4) == [5, 5, 9, 9]


def test_vector_registers_are_written_whole_and_by_parts():
    text = f"""
        .reg .v4 .u32 v; .reg .v2 .f32 w;
        mov.u32 v.x, %r0; mov.u32 v.y, 10; mov.u32 v.z, 20; mov.u32 v.w, 30;
        .local .align 16 .v4 .u32 spot; st.local.v4.u32 [spot], v; ld.local.v4.u32 v, [spot];
        mov.f32 w.x, 2.0; mov.f32 w.y, 0.5; mul.f32 w.x, w.x, w.y; cvt.rzi.u32.f32 %r3, w.x;
        add.u32 %r2, v.x, v.w; add.u32 %r2, %r2, v.y; add.u32 %r2, %r2, %r3; {STORE.format(value="%r2")}"""
    assert run(text, 3) == [41, 42, 43]


def test_registers_of_a_range_and_of_a_list():
    text = f"""
        .reg .b32 a<3>, b, c<2>; mov.u32 a2, 1; mov.u32 b, 20; mov.u32 c1, 300; add.u32 b, b, a2; add.u32 b, b, c1;
        {STORE.format(value="b")}"""
    assert run(text, 1) == [321]


def test_a_pragma_and_comments_are_passed_over():
    text = f"""
        .pragma "nounroll"; /* add.u32 %r0, %r0, 9; */ mov.u32 %r2, 4; // mov.u32 %r2, 5;
        {STORE.format(value="%r2")}"""
    assert run(text, 1) == [4]


def test_lists_of_targets_and_prototypes_are_kept():
    found = function(
        "T: .branchtargets A, B, A; P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .f32 _); "
        "C: .calltargets g, h; A: ret; B: ret;",
        ".func (.param .b32 r) g(.param .f64 x);",
    )
    assert found.tables == {"T": ("A", "B", "A")}
    assert [p.type for p in found.prototypes["P"].params] == ["b64", "f32"]
    assert [p.type for p in found.prototypes["P"].returns] == ["b32"]
    assert [p.type for p in found.prototypes["C"].params] == ["f64"]
    assert found.labels == {"A": 0, "B": 1}


def test_lists_of_targets_belong_to_their_scope():
    part = """{{ T: .branchtargets A, B; and.b32 %r3, %r0, 1; brx.idx %r3, T;
        A: add.u32 %r2, %r2, {0}; bra C; B: add.u32 %r2, %r2, {1}; C: }}"""
    text = f"mov.u32 %r2, 0; {part.format(1, 2)} {part.format(10, 20)} {STORE.format(value='%r2')}"
    assert run(text, 4) == [11, 22, 11, 22]


def test_a_call_through_a_pointer_finds_its_prototype_in_its_scope_or_by_a_list_of_functions():
    functions = """
        .func (.param .b32 r) f(.param .b32 x) {
        .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, 3; st.param.b32 [r], %a; ret; }
        .func g(.param .b64 p, .param .b32 x) {
        .reg .b64 %p; .reg .b32 %a; ld.param.b64 %p, [p]; ld.param.b32 %a, [x]; st.global.u32 [%p], %a; ret; }"""
    text = f"""
        .reg .b64 %f;
        mov.u64 %f, f; {{ P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r2), %f, (%r0), P; }}
        {{ P: .calltargets f; call (%r2), %f, (%r2), P; }}
        {STORE.format(value="%r2")}
        mov.u64 %f, g; add.u32 %r2, %r2, 1;
        {{ P: .callprototype _ (.param .b64 _, .param .b32 _); call %f, (%rd11, %r2), P; }}"""
    assert run(text, 4, functions) == [7, 8, 9, 10]


def test_a_register_may_be_argument_and_result_of_one_call():
    functions = """
        .func (.reg .u32 r) f(.reg .u32 n) {
        .reg .pred p; .reg .u32 t; mov.u32 r, 1; setp.le.u32 p, n, 1; @p ret;
        sub.u32 t, n, 1; call (t), f, (t); mul.lo.u32 r, t, n; }"""  # the end returns as well
    assert run(f"call (%r2), f, (%r0); {STORE.format(value='%r2')}", 6, functions) == [1, 1, 2, 6, 24, 120]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("4+3", 7), ("(1<<4)", 16), ("~0", -1), ("-(-5)", 5), ("!0", 1), ("!5", 0), ("1?2:3", 2), ("(5>3)*4", 4)],
        *[("5==5&&2!=3", 1), ("WARP_SZ-1", 31), ("(.s64)-1>>1", -1), ("0x10U", 16), ("017", 15), ("0b11", 3)],
    ],
)
def test_an_operand_may_be_a_constant_expression(text, value):
    assert run(f"add.s32 %r2, %r0, {text}; {STORE.format(value='%r2')}", 2) == [value, value + 1]


@pytest.mark.parametrize("kind", ["", "{ ", "{ { "])
def test_ranges_and_colours_of_vector_registers_in_every_scope(kind):
    text = f"""
        .reg .v4 .u32 v<2>; mov.u32 v0.x, 4; mov.u32 v1.x, %r0; mov.u32 v1.g, 20; mov.u32 v1.b, 1; mov.u32 v1.a, 2;
        .local .align 16 .v4 .u32 spot; st.local.v4.u32 [spot], v1; ld.local.v4.u32 v0, [spot];
        add.u32 %r2, v0.r, v0.y; add.u32 %r2, %r2, v0.z; add.u32 %r2, %r2, v0.w; {STORE.format(value="%r2")}"""
    assert run(kind + text + "}" * kind.count("{"), 3) == [23, 24, 25]


def test_a_function_may_have_variables_of_the_module():
    text = f"""
        .global .u32 own[2] = {{5, 6}}; .const .u32 fixed = 7; ld.global.u32 %r2, [own+4]; ld.const.u32 %r3, [fixed];
        {{ .global .u32 own = 100; ld.global.u32 %r4, [own]; add.u32 %r3, %r3, %r4; }}
        add.u32 %r2, %r2, %r3; {STORE.format(value="%r2")}"""
    assert run(text, 1) == [113]


def test_a_program_of_one_line_or_with_other_line_ends_is_the_same():
    text = (
        '.version 8.0\n.target sm_80, debug\n.address_size 64\n.file 1 "a.cu", 5, 6\n.entry f()\n{\n.reg .b32 %r;\n'
        '.loc 1 3 1, function_name $L__info+4, inlined_at 1 2 1\nmov.u32 %r, 7;\n.pragma "nounroll";\nret;\n}\n'
        "@@DWARF .byte 1\n"
    )
    expected = parse(text).entries["f"].instructions
    assert expected[0].place.line == 3
    assert parse(text.replace("\n", "\r\n")).entries["f"].instructions == expected
    assert parse(text.replace("@@DWARF .byte 1", "").replace("\n", " ")).entries["f"].instructions == expected


def test_without_a_source_the_lines_are_those_of_the_ptx():
    text = ".version 8.0\n.entry f()\n{\n.reg .b32 %r;\nmov.u32 %r, 7;\n\nret; }"
    assert [str(i.place) for i in parse(text, "mine.ptx").entries["f"].instructions] == ["mine.ptx:5", "mine.ptx:7"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@%p1", "more was expected"),
        ("add.s32 %r0, %r1, %r2", "more was expected"),
        (".reg .b128 q;", "no registers of type .b128"),
        ("mov.u32 %r0, {1, 2;", "an operand was expected"),
        ("mov.u32 %r0, [[%r1]];", "was expected"),
    ],
)
def test_a_body_that_breaks_off_is_refused(text, message):
    with pytest.raises(CompileError, match=message):
        parse(f"{HEAD}.entry f() {{ .reg .b32 %r<4>; .reg .pred %p<2>; {text}")
