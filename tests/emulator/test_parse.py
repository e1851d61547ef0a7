from __future__ import annotations

import pytest

from convlab.emulator.addresses import buffer_address, function_address
from convlab.emulator.parse import parse
from convlab.emulator.types import DTYPES
from convlab.errors import CompileError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def test_params_have_sizes_and_alignments():
    text = f"{HEAD}.visible .entry f(.param .u32 n, .param .align 8 .b8 s[24]) .maxntid 128, 1, 1 {{ ret; }}"
    assert [(p.name, p.type, p.size, p.align) for p in parse(text).entries["f"].params] == [
        ("n", "u32", 4, 4),
        ("s", "b8", 24, 8),
    ]


def test_variables_keep_their_initial_bytes():
    text = f"{HEAD}.global .align 4 .u32 table[3] = {{1, 2, 258}};\n.global .align 1 .b8 name[4] = {{104, 105}};\n"
    text += ".global .s16 small = -2;\n"
    variables = parse(text).variables
    assert variables["table"].data.tolist() == [1, 0, 0, 0, 2, 0, 0, 0, 2, 1, 0, 0]
    assert variables["small"].data.tolist() == [254, 255]
    assert variables["name"].data.tobytes() == b"hi\0\0"


def test_functions_kernels_and_declarations_are_kept_apart_and_debug_sections_passed_over():
    text = (
        f"{HEAD}.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;\n"
        ".func (.param .f32 r) g(.param .f32 x) { ret; }\n"
        ".visible .entry f() { ret; }\n.section .debug_str { { .b8 1 } .b8 2 }\n.weak .func h() { ret; }\n"
    )
    program = parse(text)
    assert (list(program.entries), list(program.functions)) == (["f"], ["g", "h"])
    vprintf = program.declared["vprintf"]
    assert [[p.name for p in part] for part in (vprintf.returns, vprintf.params)] == [["r"], ["a", "b"]]
    assert program.functions["g"].signature.returns[0].type == "f32"


def test_what_a_kernel_is_limited_to_is_kept():
    text = f"{HEAD}.entry f() .maxntid 128, 1, 1 .minnctapersm 2 {{ ret; }}"
    assert parse(text).entries["f"].limits == {"maxntid": (128, 1, 1), "minnctapersm": (2,)}


def values(text: str, name: str, dtype: str) -> list:
    return parse(HEAD + text).variables[name].data.view(dtype).tolist()


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        (".global .f32 v[3] = {1.5, -2.0, 0f3F800000};", "f4", [1.5, -2, 1]),
        (".global .f64 v[2] = {0d4000000000000000, -0.5};", "f8", [2, -0.5]),
        (".global .u32 v[4] = {1<<4, 4*(2+1), 0x10, -1};", "u4", [16, 12, 16, 2**32 - 1]),
        (".global .s32 v[2][3] = {{1, 2}, {3}};", "i4", None),
        (".const .align 16 .b8 v[2+3] = {1, 2, 3};", "u1", [1, 2, 3, 0, 0]),
        (".global .v2 .f32 v;", "f4", [0, 0]),
        (".global .v4 .u16 v[2];", "u2", [0] * 8),
        (".global .u64 v = 18446744073709551615;", "u8", [2**64 - 1]),
        (".visible .global .align 4 .u32 v;", "u4", [0]),
    ],
)
def test_initial_values_of_every_form(text, dtype, expected):
    found = values(text, "v", dtype)
    if expected is None:  # rows that are not full: PTX fills each up with zeros
        expected = [1, 2, 0, 3, 0, 0]
    assert found == expected


# In global memory lie, in this order: a, b, p; the functions are f and g.
ADDRESSES = ".global .u32 a[8];\n.global .u32 b;\n.func f() {{ ret; }}\n.global .align 8 {}\n.func g() {{ ret; }}\n"


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (".u64 p = b;", [buffer_address(1)]),
        (".u64 p = a+8;", [buffer_address(0) + 8]),
        (".u64 p = a-4;", [buffer_address(0) - 4]),
        (".u64 p = generic(a);", [buffer_address(0)]),
        (".u64 p = generic(a)+4*3;", [buffer_address(0) + 12]),
        (".u64 p[3] = {g, 0, f};", [function_address(1), 0, function_address(0)]),
        (".u64 p = p;", [buffer_address(2)]),
    ],
)
def test_initial_values_may_be_addresses_also_of_what_comes_later(initial, expected):
    assert values(ADDRESSES.format(initial), "p", "u8") == expected


def test_a_list_of_variables_and_an_array_as_long_as_its_value():
    program = parse(
        ".global .u32 a, b[2] = {1, 2}, c = WARP_SZ; .const[2] .u16 bank[2] = {7};"
        ".global .u8 rows[][3] = {{1}, {2, 3}};"
        ".global .f32 x[] = {2e1, -1.5, 0f3F800000};"
    )
    values = {name: v.data.view(DTYPES[v.element]).tolist() for name, v in program.variables.items()}
    assert values == {
        **{"a": [0], "b": [1, 2], "c": [32], "bank": [7, 0], "rows": [1, 0, 0, 2, 3, 0], "x": [20.0, -1.5, 1.0]},
    }


def test_an_alias_is_another_name_of_a_function():
    program = parse(".func g(); .alias g, f; .func f() { ret; }")
    assert program.functions["g"] is program.functions["f"]


def test_an_address_byte_by_byte_is_the_address():
    masks = [f"{0xFF << 8 * n:#X}".replace("0X", "0x") + "(a+12)" for n in range(8)]
    text = ADDRESSES.format(f".b8 p[9] = {{{', '.join(masks)}, 7}};").replace("(a+12)", "(a)+12")
    data = parse(HEAD + text).variables["p"].data
    assert data[:8].view("u8")[0] == buffer_address(0) + 12
    assert data[8] == 7


def test_an_address_that_nobody_defines_is_named():
    with pytest.raises(CompileError, match="The initial value of p names 'q', which the PTX does not define"):
        parse(f"{HEAD}.global .u64 p = q;")


def test_a_definition_wins_over_a_declaration_before_or_after_it():
    for order in (
        ".extern .global .u32 v[];\n.global .u32 v[2] = {5, 6};",
        ".global .u32 v[2] = {5, 6};\n.extern .global .u32 v[];",
    ):
        assert values(order, "v", "u4") == [5, 6]


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
        (".entry f() {\n.loc 1 x 3\nret; }", "PTX line 2: 'x' is no whole number."),
        (".entry f(.param .u64 p { ret; }", "'.param' was expected, but the text has '{'"),
        (".entry f() { .reg .b32 %r<65536>; .reg .b32 %s<1>; }", "f declares more than 65,536 registers"),
        (".global .u32 a b;", "PTX line 1: ';' was expected, but the text has 'b'"),
        (".glbal .u32 a;", "PTX line 1: '.glbal' is no directive."),
        (".version 8.0 hello", "PTX line 1: 'hello' is no directive."),
        (".address_size 32", "PTX line 1: the emulator has addresses of 64 bits only"),
        (".entry f() {\n.glbal .u32 a; }", "PTX line 2: '.glbal' is no directive of a function."),
        (".entry f() {\nmov.u32 %r1, -%r2; }", "PTX line 2: '%r2' is no whole number"),
        (".entry f() {\nmov.u32 %r1, >; }", "PTX line 2: an operand was expected, but the text has '>'"),
        (".entry f() {\nld.global.u32 %r1, a[2]; }", "an element of an array is named by its bytes"),
        (".global .b8 v[2] = {1, 2, 3};", "the initial value of v has more elements than it has"),
        (".global .u64 p = 0x0(q);", "this mask of an address has no bits"),
    ],
)
def test_what_is_no_ptx_is_named_with_its_line(text, message):
    with pytest.raises(CompileError) as caught:
        parse(text)
    assert message in str(caught.value)
