from __future__ import annotations

import struct

import pytest

from convlab.emulator.printing import LIMIT, Printer, render


@pytest.mark.parametrize(
    ("template", "packed", "text"),
    [
        (b"plain 100%%\n", b"", "plain 100%\n"),
        (b"%d %i", struct.pack("<ii", -3, 7), "-3 7"),
        (b"%u %x %X %o", struct.pack("<IIII", 2**32 - 1, 255, 255, 8), "4294967295 ff FF 10"),
        (b"%d %lld", struct.pack("<i4xq", 1, -(2**40)), "1 -1099511627776"),
        (b"%llu %zu", struct.pack("<QQ", 2**63, 5), "9223372036854775808 5"),
        (b"%c%c", struct.pack("<ii", 79, 75), "OK"),
        (b"%6.2f|%-8.3e|%g", struct.pack("<ddd", 3.14159, 12345.678, 0.5), "  3.14|1.235e+04|0.5"),
        (b"%05d|%+d|%*d", struct.pack("<iiii", 42, 42, 6, 7), "00042|+42|     7"),
        (b"%.*f", struct.pack("<i4xd", 1, 2.25), "2.2"),
        (b"%s!", struct.pack("<Q", 1000), "name!"),
        (b"%p", struct.pack("<Q", 0x7F0000), "0x7f0000"),
        (b"%d %d", struct.pack("<i", 9), "9 0"),
        ("größe %d".encode(), struct.pack("<i", 1), "größe 1"),
    ],
)
def test_format_strings_follow_c(template, packed, text):
    assert render(template, packed, {1000: b"name"}.get) == text


def test_output_is_kept_up_to_the_limit_and_the_rest_is_counted():
    printer = Printer()
    line = b"x" * 1023 + b"\n"
    for _ in range(3):
        printer.print(line, [(b"", lambda address: b"")] * 1000)
    text = printer.text()
    assert len(text) < LIMIT + 2048
    assert text.endswith(f"… and {3000 - LIMIT // 1024:,} more calls of printf.\n")


def test_print_returns_the_number_of_arguments():
    assert Printer().print(b"%d %% %s", [(b"", lambda address: b"")]) == 2
