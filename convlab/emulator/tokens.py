"""PTX text as tokens, and a reader that takes them one by one."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from operator import add, and_, eq, ge, gt, invert, le, lt, mul, ne, neg, or_, pos, sub, xor

from convlab.errors import CompileError

__all__ = ["CONSTANTS", "SHOWN", "SUM", "UNARY", "Reader", "number"]

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|@@[^\n]*)
      | (?P<string>"[^"\n]*")
      | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
                  |\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
      | (?P<word>\.\w+|%?[$A-Za-z_][\w$.]*(?:::\w+[\w.]*)*)
      | (?P<mark><<|>>|&&|\|\||[=!<>]=|[{}\[\]()<>,;:?+\-*/%&^~!@|=])""",
    re.VERBOSE | re.DOTALL,
)
LONGEST = 1 << 23  # characters; the largest kernels of compilers have a tenth of that
SHOWN = 40  # characters of a piece of text that a message quotes


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of PTX text, with the line it stands on."""

    kind: str
    text: str
    line: int


def tokenize(text: str) -> list[Token]:
    """Split PTX text into tokens, without white space and comments."""
    if len(text) > LONGEST:
        raise CompileError(f"The PTX has {len(text):,} characters; the emulator reads {LONGEST:,} at most.", line=1)
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
OPERATORS = ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
LEVELS = {operator: level for level, group in enumerate(OPERATORS) for operator in group.split()}
SUM = LEVELS["+"]
UNARY: dict[str, Callable[[int], int]] = {"-": neg, "+": pos, "~": invert, "!": lambda value: int(not value)}
CASTS: dict[str, Callable[[int], int]] = {
    ".s64": lambda value: (value + (1 << 63)) % (1 << 64) - (1 << 63),
    ".u64": lambda value: value % (1 << 64),
}
CONSTANTS = {"WARP_SZ": 32}


def _quotient(a: int, b: int) -> int:
    """Towards zero, as in C."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int], int]] = {
    **{"|": or_, "^": xor, "&": and_, "+": add, "-": sub, "*": mul},
    **{"==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge},
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "||": lambda a, b: int(bool(a) or bool(b)),
    "<<": lambda a, b: (a << (b & 63)) & (1 << 64) - 1,  # a shift by a billion must not fill the memory
    ">>": lambda a, b: a >> (b & 63),
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
}


class Reader:
    """Takes tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.at = 0

    def peek(self) -> str:
        """The text of the next token, or an empty string at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def ahead(self, count: int) -> Token:
        """The token so many after the next one."""
        if self.at + count >= len(self.tokens):
            raise self.error("more was expected, but the text has 'ended'.")
        return self.tokens[self.at + count]

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

    def names(self) -> list[str]:
        """Names with commas between them, and at least one."""
        found = [self.take()]
        while self.took(","):
            found.append(self.take())
        return found

    def numbers(self) -> tuple[int, ...]:
        """``256, 1, 1``."""
        found = [self.integer()]
        while self.took(","):
            found.append(self.integer())
        return tuple(found)

    def literal(self) -> int | float:
        """A number with its sign, or a constant expression."""
        negative = self.peek() == "-"
        token = self.ahead(negative)
        value = number(token.text) if token.kind == "number" else 0
        if isinstance(value, int):
            return self.integer()
        self.at += negative + 1
        return -value if negative else value

    def integer(self, loosest: int = 0) -> int:
        """A constant expression of whole numbers, ``4*(16+1)``, of operators that bind at least so tightly."""
        value = self._unary()
        while (level := LEVELS.get(self.peek(), -1)) >= loosest:
            value = self._apply(self.take(), value, self.integer(level + 1))
        if loosest == 0 and self.took("?"):
            chosen = self.integer()
            self.take(":")
            other = self.integer()
            return chosen if value else other
        return value

    def _unary(self) -> int:
        text = self.take()
        if text in UNARY:
            return UNARY[text](self._unary())
        if text == "(":
            cast = CASTS.get(self.peek())
            if cast is not None:
                self.take()
                self.take(")")
                return cast(self._unary())
            value = self.integer()
            self.take(")")
            return value
        literal = number(text) if text[:1].isdigit() else CONSTANTS.get(text)
        if not isinstance(literal, int):
            raise self.error(f"{text[:SHOWN]!r} is no whole number.")
        return literal

    def _apply(self, operator: str, a: int, b: int) -> int:
        if operator in ("/", "%") and not b:
            raise self.error("a constant is divided by zero.")
        result = BINARY[operator](a, b)
        return result if abs(result) < 1 << 64 else result % (1 << 64)  # a long product must not fill the memory
