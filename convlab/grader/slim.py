"""Reads a notebook's file without its outputs, in bounded memory, however large these are.

The text is scanned as it comes; what stands under a few keys is left out before JSON is parsed.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator
from typing import IO, NamedTuple

__all__ = ["Slim", "TooLargeError", "read_slim", "slimmed"]

_CHUNK = 1 << 20  # bytes
_MOST_READ = 400 << 20  # bytes of a file
_MOST_KEPT = 8 << 20  # characters without outputs: no lesson comes near
_LEFT_OUT = frozenset({"outputs", "attachments", "application/vnd.jupyter.widget-state+json"})
_NO_KEY = "\0" * 60  # longer than any of them
_IN_STRING = re.compile(r'["\\]')
_STRUCTURE = re.compile(r'["{}\[\],:]')
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


class TooLargeError(ValueError):
    """A file that is larger than any notebook of the course can be."""


class Slim(NamedTuple):
    """The text without what is left out, the SHA-256 of the whole file, and its size in bytes."""

    text: str
    digest: str
    size: int


def read_slim(stream: IO[bytes], keep_all: bool = False) -> Slim:
    """Read a notebook's file; the text may turn out to be no JSON at all.

    Parameters: ``stream`` of its bytes, UTF-8 or UTF-16 with a byte order mark; ``keep_all`` keeps the outputs as
    well. Raises ``TooLargeError`` for more than 400 MiB, or more than 8 MiB without outputs.
    """
    digest, size = hashlib.sha256(), 0

    def chunks() -> Iterator[str]:
        nonlocal size
        decoder = None
        while data := stream.read(_CHUNK):
            digest.update(data)
            size += len(data)
            if size > _MOST_READ:
                raise TooLargeError(f"is larger than {_MOST_READ >> 20} MiB")
            if decoder is None:
                mark, encoding = next((each for each in _MARKS if data.startswith(each[0])), (b"", "utf-8"))
                decoder, data = codecs.getincrementaldecoder(encoding)("replace"), data[len(mark) :]
            yield decoder.decode(data)

    pieces, kept = [], 0
    for piece in chunks() if keep_all else slimmed(chunks()):
        pieces.append(piece)
        kept += len(piece)
        if kept > _MOST_KEPT:
            raise TooLargeError(f"holds more than {_MOST_KEPT >> 20} MiB beside its outputs")
    return Slim("".join(pieces), digest.hexdigest(), size)


def slimmed(chunks: Iterator[str]) -> Iterator[str]:
    """Copy JSON, with an empty list in place of each value under a key that is left out.

    >>> "".join(slimmed(iter(['{"outputs": [{"a": "]"}], "so', 'urce": "x"}'])))
    '{"outputs":[], "source": "x"}'
    """
    scanner = _Scanner()
    for chunk in chunks:
        yield from scanner.pieces(chunk)


class _Scanner:
    """Where a scan stands between two chunks."""

    def __init__(self) -> None:
        self._in_string = False
        self._escaped = False
        self._key = ""  # the last string, as far as a key could be that long
        self._depth = 0
        self._left_out = -1  # the depth that a value which is left out began at
        self._begun = False  # whether such a value has begun with a bracket

    def pieces(self, chunk: str) -> Iterator[str]:
        """The parts of the next chunk that are kept."""
        start = at = 0
        while at < len(chunk):
            if self._in_string:
                at = self._through_string(chunk, at)
                continue
            found = _STRUCTURE.search(chunk, at)
            if not found:
                break
            at = found.end()
            if self._left_out < 0:
                if self._opens(found[0]):
                    yield chunk[start:at] + "[]"
            elif self._closes(found[0]):
                start = at if self._begun else at - 1
                self._left_out, self._begun = -1, False
        if self._left_out < 0:
            yield chunk[start:]

    def _through_string(self, chunk: str, at: int) -> int:
        if self._escaped:
            self._escaped, self._key = False, _NO_KEY  # none of the keys has an escape
            return at + 1
        found = _IN_STRING.search(chunk, at)
        end = found.start() if found else len(chunk)
        self._key += chunk[at : min(end, at + len(_NO_KEY))] if len(self._key) < len(_NO_KEY) else ""
        if found:
            self._escaped = found[0] == "\\"
            self._in_string = self._escaped
        return end + 1

    def _opens(self, mark: str) -> bool:
        """Take in a mark of what is kept; tell whether a value begins that is left out."""
        if mark == '"':
            self._in_string, self._key = True, ""
        self._depth += (mark in "{[") - (mark in "}]")
        if mark == ":" and self._key in _LEFT_OUT:
            self._left_out = self._depth
        return self._left_out >= 0

    def _closes(self, mark: str) -> bool:
        """Take in a mark of what is left out; tell whether that ends here, behind a bracket or before the mark."""
        if mark == '"':
            self._in_string, self._key = True, ""
        if mark in ",}]" and self._depth == self._left_out:
            return self._ends_scalar(mark)
        self._depth += (mark in "{[") - (mark in "}]")
        self._begun = self._begun or mark in "{["
        return mark in "}]" and self._depth == self._left_out

    def _ends_scalar(self, mark: str) -> bool:
        self._depth -= mark in "}]"
        return True
