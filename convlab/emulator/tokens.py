"""PTX text as tokens, and a reader that takes them one by one."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from convlab.errors import CompileError

__all__ = ["SUM", "Reader", "number"]

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"[^"\n]*")
      | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
                  |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
      | (?P<word>\.\w+|%?[$A-Za-z_][\w$.]*(?:::\w+[\w.]*)*)
      | (?P<mark><<|>>|[{}\[\]()<>,;:+\-*/%&^~!@|=])""",
    re.VERBOSE | re.DOTALL,
)
SHOWN = 40  # characters of a piece of text that a message quotes


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of PTX text, with the line it stands on."""

    kind: str
    text: str
    line: int


def tokenize(text: str) -> list[Token]:
    """Split PTX text into tokens, without white space and comments."""
    tokens, position, line = [], 0, 1
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise CompileError(f"PTX line {line}: {text[position]!r} is no PTX.", line=line)
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        position = match.end()
    return tokens


def number(text: str) -> int | float:
    """The value of a PTX literal; ``0f3F800000`` and ``0d…`` are the bits of a float.

    >>> number("0f3F800000"), number("0x1F"), number("017"), number("0b101"), number("7U"), number("2.5")
    (1.0, 31, 15, 5, 7, 2.5)
    """
    head = text[:2].lower()
    if head in ("0f", "0d"):
        code = ">f" if head == "0f" else ">d"
        return float(struct.unpack(code, bytes.fromhex(text[2:]))[0])
    digits = text.rstrip("U")
    if head in ("0x", "0b"):
        return int(digits, 16 if head == "0x" else 2)
    if not digits.isdigit():
        return float(digits)
    return int(digits, 8) if digits.startswith("0") else int(digits)


# Constant expressions, loosest binding first; C's rules, on integers.
OPERATORS: tuple[tuple[str, ...], ...] = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
SUM = 4  # where sums stand in that list


class Reader:
    """Takes tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.at = 0

    def peek(self) -> str:
        """The text of the next token, or an empty string at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        """The next token's text; an error when it is not the expected one."""
        text = self.peek()
        if not text or (expected is not None and text != expected):
            wanted = f"{expected!r} was expected" if expected else "more was expected"
            raise self.error(f"{wanted}, but the text has {text[:SHOWN] or 'ended'!r}.")
        self.at += 1
        return text

    def took(self, text: str) -> bool:
        """Take the next token if it is this one."""
        found = self.peek() == text
        self.at += found
        return found

    def line(self) -> int:
        """The line of the last token taken."""
        return self.tokens[min(max(self.at - 1, 0), len(self.tokens) - 1)].line if self.tokens else 1

    def error(self, what: str) -> CompileError:
        """An error at the line of the last token."""
        return CompileError(f"PTX line {self.line()}: {what}", line=self.line())

    def rest_of_line(self) -> list[str]:
        """The texts of all tokens left on the line of the last one taken."""
        line, texts = self.line(), []
        while self.at < len(self.tokens) and self.tokens[self.at].line == line:
            texts.append(self.take())
        return texts

    def integer(self, loosest: int = 0) -> int:
        """A constant expression of whole numbers, ``4*(16+1)``."""
        if loosest == len(OPERATORS):
            return self._unary()
        value = self.integer(loosest + 1)
        while (operator := self.peek()) in OPERATORS[loosest]:
            self.take()
            value = self._apply(operator, value, self.integer(loosest + 1))
        return value

    def _unary(self) -> int:
        if self.took("-"):
            return -self._unary()
        if self.took("~"):
            return ~self._unary()
        if self.took("("):
            value = self.integer()
            self.take(")")
            return value
        text = self.take()
        literal = number(text) if text[:1].isdigit() else None
        if not isinstance(literal, int):
            raise self.error(f"{text[:SHOWN]!r} is no whole number.")
        return literal

    def _apply(self, operator: str, a: int, b: int) -> int:
        if operator in ("<<", ">>"):
            b &= 63  # a shift by a billion must not fill the memory
            return (a << b) & (1 << 64) - 1 if operator == "<<" else a >> b
        if operator in ("/", "%"):
            if not b:
                raise self.error("a constant is divided by zero.")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if operator == "/" else a - b * quotient
        simple = {"|": a | b, "^": a ^ b, "&": a & b, "+": a + b, "-": a - b, "*": a * b}
        return simple[operator]
