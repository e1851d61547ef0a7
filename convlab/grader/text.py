"""Makes texts that others wrote safe to show: in a terminal, in a table, as a file's name."""

from __future__ import annotations

import hashlib
import re
import unicodedata

__all__ = ["clipped", "file_name", "guarded", "one_line", "plain"]

# What a terminal obeys: operating system commands, to their end, then other escape sequences.
_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[\[PX^_()][0-?]*[ -/]*[@-~]?|\x1b.?|\x9b[0-?]*[ -/]*[@-~]?"
)
_TURNING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")  # they reorder what is read
_FORMULA = re.compile(r"[\s\ufeff]*[=+\-@|%＝＋－＠].|[\t\r]", re.DOTALL)  # a lone sign is none
_UNSAFE = re.compile(r"[^\w.-]+")


def plain(text: str) -> str:
    r"""Give a text without what acts instead of being read: escapes, control characters, marks that turn the order.

    >>> plain("a\x1b[31mb\x07c\u202ed")
    'abcd'

    Lines and tabs stay.
    """
    unescaped = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return "".join(each for each in unescaped if _is_read(each))


def _is_read(character: str) -> bool:
    if character in "\n\t":
        return True
    return character not in _TURNING and unicodedata.category(character) not in ("Cc", "Cs")


def one_line(text: str, limit: int = 300) -> str:
    """Give a plain text on one line, clipped.

    >>> one_line("one\\n  two", limit=20)
    'one two'
    """
    return clipped(" ".join(plain(text).split()), limit)


def clipped(text: str, limit: int) -> str:
    """Cut a long text, with an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def guarded(text: str) -> str:
    """Give a plain text that no spreadsheet takes for a formula.

    >>> guarded("=1+1"), guarded("Ada, Countess")
    ("'=1+1", 'Ada, Countess')

    An apostrophe in front is what spreadsheets themselves use for "this is text".
    """
    shown = plain(text)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def file_name(*parts: str) -> str:
    """Give a name for a file that any system takes, with letters of any script, and one of its own for any parts.

    >>> file_name("../Ada Lovelace", "01_loops")
    'Ada_Lovelace-01_loops-6aeca0c5'
    """
    told = "-".join(
        filter(None, (_UNSAFE.sub("_", unicodedata.normalize("NFC", plain(part))).strip("._-") for part in parts))
    )
    own = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    while len(told.encode()) > 100:
        told = told[:-1]
    return f"{told}-{own}" if told else own
