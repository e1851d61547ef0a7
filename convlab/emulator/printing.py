"""``printf`` of kernels: C's format strings, filled from the bytes that a thread passed."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence

from convlab.emulator.addresses import aligned

__all__ = ["LIMIT", "Printer", "render"]

MOST_WIDE = 4095  # characters that a width or a precision may ask for, as C promises
LIMIT = 1 << 20  # bytes kept of a launch's output, as many as a GPU's own buffer holds by default

CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|j|z|t)?"
    rb"(?P<kind>[diouxXeEfFgGaAcsp%])"
)
WIDE = (b"l", b"ll", b"j", b"z", b"t")


class Printer:
    """Collects what a launch prints, and counts what no longer fits."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._left_out = 0

    def print(self, template: bytes, calls: Sequence[tuple[bytes, Callable[[int], bytes]]]) -> int:
        """Calls, each with its argument bytes and its view of strings; returns the template's count of conversions."""
        for at, (arguments, string) in enumerate(calls):
            if self._size >= LIMIT:
                self._left_out += len(calls) - at
                break
            text = render(template, arguments, string)
            self._parts.append(text)
            self._size += len(text)
        return sum(match["kind"] != b"%" for match in CONVERSION.finditer(template))

    def text(self) -> str:
        """Everything printed; a last line counts the calls that were left out."""
        rest = f"… and {self._left_out:,} more calls of printf.\n" if self._left_out else ""
        return "".join(self._parts) + rest


def render(template: bytes, arguments: bytes, string: Callable[[int], bytes]) -> str:
    """Fill a format string from packed arguments, each at its natural alignment, floats as doubles.

    >>> render(b"%d is %5.2f%%\\n", struct.pack("<i4xd", 7, 0.5), lambda address: b"")
    '7 is  0.50%\\n'
    """
    at = 0

    def take(code: str) -> int | float:
        nonlocal at
        size = struct.calcsize(code)
        at = aligned(at, size)
        if at + size > len(arguments):
            return 0
        value: int | float = struct.unpack_from(f"<{code}", arguments, at)[0]
        at += size
        return value

    def size(text: bytes) -> int:
        """A width or precision, from the format string or (``*``) from the arguments."""
        number = int(take("i")) if text == b"*" else int(text[:9] or b"0")
        return max(-MOST_WIDE, min(number, MOST_WIDE))

    def fill(match: re.Match[bytes]) -> str:
        kind = match["kind"].decode()
        if kind == "%":
            return "%"
        width = "" if match["width"] is None else size(match["width"])
        digits = -1 if match["precision"] is None else size(match["precision"])
        form = f"%{match['flags'].decode()}{width}{f'.{digits}' if digits >= 0 else ''}"
        return _convert(form, kind, match["length"] in WIDE, take, string)

    pieces, end = [], 0
    for match in CONVERSION.finditer(template):
        pieces += [template[end : match.start()].decode("utf-8", "replace"), fill(match)]
        end = match.end()
    return "".join(pieces) + template[end:].decode("utf-8", "replace")


def _convert(
    form: str, kind: str, wide: bool, take: Callable[[str], int | float], string: Callable[[int], bytes]
) -> str:
    """One conversion, by Python's own ``%``, which follows C."""
    if kind in "csp":
        value = int(take("i" if kind == "c" else "Q"))
        shown = {"c": lambda: chr(value & 0xFF), "s": lambda: string(value).decode("utf-8", "replace")}
        return f"{form}s" % shown.get(kind, lambda: hex(value))()
    if kind in "aA":
        return f"{form}s" % float(take("d")).hex()
    code = {"d": "qi", "i": "qi", "u": "QI", "o": "QI", "x": "QI", "X": "QI"}.get(kind, "dd")
    return f"{form}{'d' if kind in 'iu' else kind}" % take(code[not wide])
