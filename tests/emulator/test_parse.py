from __future__ import annotations

import pytest

from convlab.emulator.parse import number, parse, tokenize
from convlab.emulator.program import Address, Immediate, Register, Symbol, Vector
from convlab.emulator.translate import translate
from convlab.errors import CompileError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def body(text: str) -> list:
    entry = parse(f"{HEAD}.visible .entry f(.param .u64 p) {{ .reg .b32 %r<4>; .reg .pred %p<2>; {text} }}").entries[
        "f"
    ]
    return entry.instructions


@pytest.mark.parametrize(
    ("text", "value"),
    [("0f3F800000", 1.0), ("0d4000000000000000", 2.0), ("0xFF", 255), ("17", 17), ("4U", 4), ("1.5", 1.5)],
)
def test_a_literal_has_its_value(text, value):
    assert number(text) == value
    assert type(number(text)) is type(value)


def test_operands_of_every_kind():
    (mov,) = body("mov.v2.u32 {%r0, %r1}, [%r2+-4];")
    assert mov.operands == (Vector((Register("%r0"), Register("%r1"))), Address(Register("%r2"), -4))
    (add,) = body("add.s32 %r0, %r1, -7;")
    assert add.operands[2] == Immediate(-7)
    (setp,) = body("setp.eq.s32 %p0|%p1, %r0, %r1;")
    assert setp.operands[0] == Vector((Register("%p0"), Register("%p1")))
    (load,) = body("ld.param.u64 %r0, [p+8];")
    assert load.operands[1] == Address(Symbol("p"), 8)


def test_a_guard_belongs_to_its_instruction():
    plain, guarded = body("ret; @!%p1 ret;")
    assert plain.guard is None
    assert guarded.guard == Register("%p1", negated=True)


def test_params_have_sizes_and_alignments():
    text = f"{HEAD}.visible .entry f(.param .u32 n, .param .align 8 .b8 s[24]) .maxntid 128, 1, 1 {{ ret; }}"
    assert [(p.name, p.type, p.size, p.align) for p in parse(text).entries["f"].params] == [
        ("n", "u32", 4, 4),
        ("s", "b8", 24, 8),
    ]


def test_lines_follow_loc_also_through_inlined_calls_and_line_zero():
    text = (
        f"{HEAD}.visible .entry f() {{\n.loc 1 7 3\nret;\n.loc 1 0 3\nret;\n.loc 2 4 1, function_name $L, "
        'inlined_at 1 7 3\nret;\n}\n.file 1 "mine.cu"\n.file 2 "common.cuh"\n'
    )
    first, moved, inlined = (instruction.place for instruction in parse(text).entries["f"].instructions)
    assert str(first) == str(moved) == "mine.cu:7"
    assert (str(inlined), inlined.callers) == ("common.cuh:4", (("mine.cu", 7),))


def test_variables_keep_their_initial_bytes():
    text = f"{HEAD}.global .align 4 .u32 table[3] = {{1, 2, 258}};\n.global .align 1 .b8 name[4] = {{104, 105}};\n"
    text += ".global .s16 small = -2;\n"
    variables = parse(text).variables
    assert variables["table"].data.tolist() == [1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0]
    assert variables["small"].data.tolist() == [254, 255]
    assert variables["name"].data.tobytes() == b"hi\0\0"


def test_functions_and_debug_sections_are_passed_over():
    text = (
        f"{HEAD}.extern .func (.param .b32 r) vprintf (.param .b64 a) ;\n.func g() {{ {{ ret; }} }}\n"
        ".visible .entry f() { ret; }\n.section .debug_str { .b8 1 }\n"
    )
    assert list(parse(text).entries) == ["f"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".version 8.0\n.entry f( § )", "PTX line 2: '§' is no PTX."),
        (".entry f() { add.s32", "more was expected, but the text has 'ended'"),
        (".entry f() { .reg .b32 %r<x>; }", "'x' is no whole number"),
        (
            ".global .b8 big[1099511627776];",
            "The variable big has 1,099,511,627,776 bytes; the emulator takes 1,073,741,824",
        ),
        (".entry f() {\n.reg .b128 %q<2>; }", "PTX line 2: the emulator has no registers of type .b128."),
        (".entry f() {\n.loc 1 x 3\nret; }", "PTX line 2: this is no PTX."),
        (".entry f(.param .u64 p { ret; }", "'.param' was expected, but the text has '{'"),
    ],
)
def test_what_is_no_ptx_is_named_with_its_line(text, message):
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert message in str(caught.value)


def test_tokens_know_their_line():
    assert [(t.text, t.line) for t in tokenize("a /* x\n y */ b // c\nd")] == [("a", 1), ("b", 2), ("d", 3)]


def test_a_kernel_without_instructions_is_refused():
    with pytest.raises(CompileError, match="The kernel f has no instructions, not even ret"):
        translate(parse(f"{HEAD}.visible .entry f() {{ }}").entries["f"])


def test_registers_beyond_all_sense_are_not_made():
    entry = parse(f"{HEAD}.visible .entry f() {{ .reg .b32 %r<4294967296>; ret; }}").entries["f"]
    assert len(entry.registers) == 1 << 20
