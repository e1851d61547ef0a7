"""Numbers with their units, as captions say them."""

from __future__ import annotations

__all__ = ["bytes_text", "count_text"]


def bytes_text(number: int) -> str:
    """Write a number of bytes, in the unit that makes it short.

    >>> bytes_text(36), bytes_text(1152 * 12544 * 4)
    ('36 bytes', '55.1 MiB')
    """
    power = min(4, max(0, number.bit_length() - 1) // 10)
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB")[power]
    return f"{number / (1 << 10 * power):,.{min(power, 1)}f} {unit}"


def count_text(number: int, noun: str) -> str:
    """Write how many there are of something.

    >>> count_text(1, "column"), count_text(12544, "column")
    ('1 column', '12,544 columns')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"
