"""Texts of strangers, made safe to show."""

from __future__ import annotations

import csv
import io

import pytest

from convlab.grader.text import clipped, file_name, guarded, one_line, plain

HOSTILE = {
    "colours": ("a\x1b[31;1mred\x1b[0m", "ared"),
    "a title": ("\x1b]0;owned\x07name", "name"),
    "an open title": ("\x1b]0;owned", ""),
    "a link": ("\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "y"),
    "8-bit escapes": ("a\x9b2Jb", "ab"),
    "a lone escape": ("a\x1b", "a"),
    "bells and backspaces": ("a\x07\x08\x00b", "ab"),
    "turned order": ("abc\u202egpj.exe", "abcgpj.exe"),
    "half a letter": ("a\udc80b", "ab"),
    "line ends of Windows": ("a\r\nb", "a\nb"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_what_acts_is_taken_out(text, shown):
    assert plain(text) == shown


@pytest.mark.parametrize(
    "text", ["Ada, Countess", '"quoted"', "two\nlines", "卷积", "-", "Ωμέγα", "नमस्ते", "a\tb", "👩‍🔬"]
)
def test_what_is_read_stays(text):
    assert plain(text) == text
    assert guarded(text) == text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "|x", "%x", "\ufeff=1"])
def test_no_spreadsheet_takes_it_for_a_formula(text):
    assert guarded(text).startswith("'")
    assert guarded(text)[1:] == plain(text)
    assert guarded(guarded(text)) == guarded(text)


def test_a_carriage_return_hides_no_formula():
    out = io.StringIO()
    csv.writer(out).writerow([guarded("\r=1")])
    assert out.getvalue() == "'=1\r\n" or out.getvalue() == '"\'=1"\r\n'


def test_long_texts_are_clipped_and_lines_joined():
    assert one_line("a\n\n  b\x1b[2J", 10) == "a b"
    assert clipped("abcdef", 4) == "abc…"
    assert clipped("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    "part", ["../../etc/passwd", "/etc/passwd", "..", "", "a/b\\c", "con:x*?", "\x1b[0m", "名" * 400, "\udc80"]
)
def test_a_file_name_stays_in_its_folder_whatever_it_is_made_of(part, tmp_path):
    name = file_name(part)
    path = tmp_path / name
    path.write_text("x")
    assert path.parent.resolve() == tmp_path.resolve()
    assert list(tmp_path.iterdir()) == [path]
    assert len(name.encode()) < 150


def test_different_parts_have_different_names():
    parts = [("a", "b"), ("ab",), ("a b",), ("a_b",), ("a", "b", ""), ("A", "b")]
    assert len({file_name(*each).lower() for each in parts}) == len(parts)
    assert file_name("李雷", "01").startswith("李雷-01-")
