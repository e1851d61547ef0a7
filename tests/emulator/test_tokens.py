from __future__ import annotations

import random

import pytest

from convlab.emulator.tokens import Reader, number, tokenize
from convlab.errors import CompileError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("0f3F800000", 1.0), ("0F40490FDB", 3.1415927410125732), ("0d4000000000000000", 2.0), ("1.5", 1.5)],
        *[("1e3", 1000.0), ("2.5E-1", 0.25), ("3.", 3.0), ("0xFF", 255), ("0XfU", 15), ("17", 17), ("4U", 4)],
        *[("0b101", 5), ("017", 15), ("0", 0), ("18446744073709551615", 2**64 - 1)],
    ],
)
def test_a_literal_has_its_value(text, value):
    assert number(text) == value
    assert type(number(text)) is type(value)


def test_tokens_know_their_line():
    assert [(t.text, t.line) for t in tokenize("a /* x\n y */ b // c\nd")] == [("a", 1), ("b", 2), ("d", 3)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("{.reg.b32 %r<4>;}", "{ .reg .b32 %r < 4 > ; }"),
        ("mov.u32 %r1,%tid.x;", "mov.u32 %r1 , %tid.x ;"),
        ("16%5", "16 % 5"),
        ("ld.shared::cta.v2.f32 {%f1,_},[%rd1+-4];", "ld.shared::cta.v2.f32 { %f1 , _ } , [ %rd1 + - 4 ] ;"),
        ("$L__BB0_2:@!%p1 bra $L__BB0_2;", "$L__BB0_2 : @ ! %p1 bra $L__BB0_2 ;"),
        ("0xFF00(name)+8", "0xFF00 ( name ) + 8"),
        ("0f3F8000000", "0 f3F8000000"),  # nine digits are no float
        ('.file 1 "a b.cu"', '.file 1 "a b.cu"'),
    ],
)
def test_text_falls_into_tokens(text, pieces):
    found = [token.text for token in tokenize(text)]
    assert " ".join(found) == pieces


@pytest.mark.parametrize("text", ["§", "é", '"open', "`", "\0", "#"])
def test_what_is_no_ptx_is_shown_with_its_line(text):
    with pytest.raises(CompileError, match=r"PTX line 2: .* is no PTX") as caught:
        tokenize(f"ret;\n{text}")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("4*(16+1)", 68), ("-3", -3), ("~0", -1), ("2+3*4", 14), ("(2+3)*4", 20), ("1<<4|3", 19), ("7&3^1", 2)],
        *[("-7/2", -3), ("-7%3", -1), ("7/-2", -3), ("0x10>>2", 4), ("10-4-3", 3), ("1<<2+1", 8), ("1<<64", 1)],
        *[("1<2==1", 1), ("6^3|8", 13), ("1||0&&0", 1), ("3>=4?5:6+1", 7), ("!3+1", 1), ("(.u64)-1>>63", 1), ("+4", 4)],
        *[("WARP_SZ/5", 6), ("1?2:0?3:4", 2), ("0?2:0?3:4", 4)],
    ],
)
def test_constant_expressions_follow_c(text, value):
    assert Reader(text).integer() == value


def test_constant_expressions_agree_with_python_on_what_both_have():
    rng = random.Random(3)
    for _ in range(200):
        text = str(rng.randrange(1, 50))
        for _ in range(rng.randrange(1, 7)):
            operator = rng.choice(["+", "-", "*", "|", "&", "^"])
            term = rng.choice(["{n}", "({n}+{m})", "-{n}", "({n}*{m}-1)", "~{n}"])
            text += operator + term.format(n=rng.randrange(1, 50), m=rng.randrange(1, 50))
        assert Reader(text).integer() == eval(text), text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "a constant is divided by zero"),
        ("5%(2-2)", "a constant is divided by zero"),
        ("1+", "more was expected, but the text has 'ended'"),
        ("(1", "'\\)' was expected"),
        ("2.5", "'2.5' is no whole number"),
        ("x", "'x' is no whole number"),
    ],
)
def test_a_wrong_constant_is_named(text, message):
    with pytest.raises(CompileError, match=message):
        Reader(text).integer()
