"""PTX text to records: a tokenizer and a recursive-descent parser."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np

from convlab.emulator.program import (
    Address,
    Entry,
    Immediate,
    Instruction,
    Operand,
    Param,
    Place,
    Program,
    Register,
    Symbol,
    Variable,
    Vector,
)
from convlab.emulator.types import DTYPES, SIZES, constant
from convlab.errors import CompileError

__all__ = ["parse"]

LARGEST_VARIABLE = 1 << 30  # bytes: nobody's laptop should swap for a typing error in an array's size

MOST_REGISTERS = 1 << 20  # of one declaration: far beyond what any compiler makes

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"[^"\n]*")
      | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?|\d+\.\d*(?:[eE][+-]?\d+)?|\d+U?)
      | (?P<word>[%.$A-Za-z_][\w$.]*(?:::\w+[\w.]*)*)
      | (?P<mark>[{}\[\]()<>,;:+\-!@|=])""",
    re.VERBOSE | re.DOTALL,
)


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
    """The value of a PTX literal; ``0f3F800000`` and ``0d…`` are the bits of a float."""
    head = text[:2].lower()
    if head == "0f":
        return float(struct.unpack(">f", bytes.fromhex(text[2:]))[0])
    if head == "0d":
        return float(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
    if head == "0x":
        return int(text.rstrip("U"), 16)
    return float(text) if "." in text else int(text.rstrip("U"))


class Parser:
    """Reads a list of tokens from left to right into a `Program`."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.at = 0
        self.program = Program()
        self.files: dict[int, str] = {}
        self.place = Place("", 0)
        self.latest: dict[tuple[int, int, int], Place] = {}  # .loc (file, line, column): inlined_at points here

    def peek(self) -> str:
        """The text of the next token, or an empty string at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        """The next token's text; an error when it is not the expected one."""
        text = self.peek()
        if not text or (expected is not None and text != expected):
            line = self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1
            wanted = f"{expected!r} was expected" if expected else "more was expected"
            raise CompileError(f"PTX line {line}: {wanted}, but the text has {text or 'ended'!r}.", line=line)
        self.at += 1
        return text

    def integer(self) -> int:
        """The next token as a whole number."""
        negative = self.peek() == "-" and bool(self.take())
        text = self.take()
        if not text[:1].isdigit() or not isinstance(value := number(text), int):
            raise CompileError(f"PTX line {self.tokens[self.at - 1].line}: {text!r} is no whole number.")
        return -value if negative else value

    def rest_of_line(self) -> list[str]:
        """The texts of all tokens left on the line of the last one taken."""
        line, texts = self.tokens[self.at - 1].line, []
        while self.at < len(self.tokens) and self.tokens[self.at].line == line:
            texts.append(self.take())
        return texts

    def parse(self) -> Program:
        """Read the whole file."""
        try:
            for head in self.file_table():
                self.files[int(head[0])] = head[1].strip('"')
            while self.peek():
                self.top_level(self.take())
        except (
            IndexError,
            KeyError,
            OverflowError,
            TypeError,
            ValueError,
        ) as error:  # a word where a number must stand, or none
            line = self.tokens[min(self.at, len(self.tokens)) - 1].line
            raise CompileError(f"PTX line {line}: this is no PTX.", line=line) from error
        return self.program

    def file_table(self) -> list[list[str]]:
        """The operands of all ``.file`` directives, which NVRTC writes at the end, after their use."""
        found = []
        for index, token in enumerate(self.tokens):
            if token.text == ".file":
                found.append([t.text for t in self.tokens[index + 1 : index + 3]])
        return found

    def top_level(self, word: str) -> None:
        """One directive outside of functions."""
        if word == ".version":
            self.program.version = self.take()
        elif word == ".target":
            self.program.target = self.rest_of_line()[0]
        elif word in (".address_size", ".file"):
            self.rest_of_line()
        elif word == ".entry":
            self.entry()
        elif word in (".global", ".const", ".shared"):
            variable = self.variable(word[1:])
            self.program.variables[variable.name] = variable
        elif word == ".func":
            self.skip_function()
        elif word == ".section":
            self.skip_braces()

    def entry(self) -> None:
        """A kernel: name, parameters, tuning directives, body."""
        entry = Entry(self.take(), globals=self.program.variables)
        if self.peek() == "(":
            entry.params = self.params()
        while self.peek() not in ("{", ""):
            self.take()
        self.take("{")
        self.body(entry)
        self.program.entries[entry.name] = entry

    def params(self) -> tuple[Param, ...]:
        """The parenthesised parameter list of a kernel."""
        self.take("(")
        params = []
        while self.peek() != ")":
            if self.peek() == ",":
                self.take()
            self.take(".param")
            params.append(self.param())
        self.take(")")
        return tuple(params)

    def param(self) -> Param:
        """One parameter after its ``.param``: ``.align 4 .b8 name[64]`` or ``.u64 name``."""
        align, kind, count = 0, "", 1
        while self.peek().startswith("."):
            word = self.take()
            if word == ".align":
                align = self.integer()
            elif word[1:] in SIZES:
                kind = word[1:]
        name = self.take()
        if self.peek() == "[":
            self.take()
            count = self.integer()
            self.take("]")
        size = SIZES[kind] * count
        return Param(name, kind, size, align or SIZES[kind])

    def variable(self, space: str) -> Variable:
        """``.align 4 .b8 name[64] = {1, 2};`` after its space; what has no initial value is zero."""
        align, kind, name, count = 0, "b8", "", 1
        while (word := self.take()) not in (";", "="):
            if word == ".align":
                align = self.integer()
            elif word == "[":
                count *= 0 if self.peek() == "]" else self.integer()
                self.take("]")
            elif word[1:] in SIZES:
                kind = word[1:]
            elif word[0] != ".":
                name = word
        size = SIZES[kind] * count
        if size > LARGEST_VARIABLE:
            raise CompileError(
                f"The variable {name} has {size:,} bytes; the emulator takes {LARGEST_VARIABLE:,} at most."
            )
        data = np.zeros(size, np.uint8)
        if word == "=":
            raw = self.initial(kind)
            data[: len(raw)] = np.frombuffer(raw, np.uint8)
        return Variable(name, space, align or SIZES[kind], data)

    def initial(self, kind: str) -> bytes:
        """The bytes of an initial value, ``{1, 2}`` or ``1``, up to the semicolon."""
        raw = bytearray()
        while self.peek() != ";":
            word = self.take()
            if word in "{},":
                continue
            negative = word == "-"
            value = number(self.take() if negative else word)
            raw += constant(-value if negative else value, np.dtype(f"u{SIZES[kind]}")).tobytes()
        self.take(";")
        return bytes(raw)

    def skip_function(self) -> None:
        """Pass over a function: a declaration ends with ``;``, a definition with its closing brace."""
        while self.peek() not in ("{", ";"):
            self.take()
        if self.peek() == ";":
            self.take()
        else:
            self.skip_braces()

    def skip_braces(self) -> None:
        """Pass over everything up to the matching closing brace."""
        while self.take() != "{":
            pass
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)

    def body(self, entry: Entry) -> None:
        """Directives, labels and instructions up to the closing brace of the kernel; inner scopes are flattened."""
        depth = 1
        self.place = Place("", 0)
        while depth:
            word = self.take()
            if word in "{}":
                depth += 1 if word == "{" else -1
            elif word == ".loc":
                self.loc()
            elif word == ".reg":
                self.registers(entry)
            elif word in (".local", ".shared"):
                variable = self.variable(word[1:])
                entry.locals[variable.name] = variable
            elif word == ".param":
                # The argument of a call: a register in all but name.
                param = self.param()
                self.take(";")
                entry.registers[param.name] = param.type
            elif word == ".pragma":
                while self.take() != ";":
                    pass
            elif self.peek() == ":":
                self.take()
                entry.labels[word] = len(entry.instructions)
            else:
                entry.instructions.append(self.instruction(word, entry))

    def loc(self) -> None:
        """``.loc file line column``, with ``inlined_at file line column`` where the compiler inlined a call."""
        words = self.rest_of_line()
        key = (int(words[0]), int(words[1]), int(words[2]))
        file, line = self.files.get(key[0], ""), key[1]
        callers: tuple[tuple[str, int], ...] = ()
        if "inlined_at" in words:
            at = words.index("inlined_at") + 1
            caller = self.latest.get((int(words[at]), int(words[at + 1]), int(words[at + 2])))
            if caller is not None:
                callers = ((caller.file, caller.line), *caller.callers)
        # Line 0 marks code that the compiler moved or made: it stays with the line before it.
        if line:
            self.place = Place(file, line, callers)
        self.latest[key] = self.place

    def registers(self, entry: Entry) -> None:
        """``.reg .b32 %r<8>;`` declares %r0 to %r7; names may also be listed."""
        kind = self.take()[1:]
        if kind not in DTYPES:
            line = self.tokens[self.at - 1].line
            raise CompileError(f"PTX line {line}: the emulator has no registers of type .{kind}.", line=line)
        while True:
            name = self.take()
            if self.peek() == "<":
                self.take()
                count = min(self.integer(), MOST_REGISTERS)
                self.take(">")
                entry.registers.update((f"{name}{index}", kind) for index in range(count))
            else:
                entry.registers[name] = kind
            if self.take() == ";":
                return

    def instruction(self, word: str, entry: Entry) -> Instruction:
        """``@%p1 opcode operands;``."""
        guard = None
        if word == "@":
            negated = self.peek() == "!" and bool(self.take())
            guard = Register(self.take(), negated)
            word = self.take()
        operands: list[Operand] = []
        while self.peek() != ";":
            if self.peek() == ",":
                self.take()
            operands.append(self.operand(entry))
        self.take(";")
        return Instruction(tuple(word.split(".")), tuple(operands), guard, self.place)

    def operand(self, entry: Entry) -> Operand:
        """A register, a literal, a name, ``[address]`` or ``{vector}``."""
        if self.peek() == "[":
            return self.address(entry)
        if self.peek() in "{(":
            close = "}" if self.take() == "{" else ")"
            items = []
            while self.peek() != close:
                if self.peek() == ",":
                    self.take()
                items.append(self.simple(entry))
            self.take(close)
            return Vector(tuple(items))
        first = self.simple(entry)
        if self.peek() != "|":
            return first
        self.take()
        return Vector((first, self.simple(entry)))

    def simple(self, entry: Entry) -> Register | Symbol | Immediate:
        """An operand without brackets."""
        negated = self.peek() == "!" and bool(self.take())
        sign = -1 if self.peek() == "-" and bool(self.take()) else 1
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        text = self.take()
        if token is not None and token.kind == "number":
            return Immediate(sign * number(text))
        return Register(text, negated) if text in entry.registers else Symbol(text)

    def address(self, entry: Entry) -> Address:
        """``[%rd1+8]``, ``[name+-4]`` or ``[name]``."""
        self.take("[")
        base, offset = self.simple(entry), 0
        if self.peek() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            offset = sign * self.integer()
        self.take("]")
        return Address(base, offset)


def parse(text: str) -> Program:
    """Parse PTX text.

    >>> text = ".version 9.0\\n.target sm_80\\n.address_size 64\\n.visible .entry f(.param .u64 p) { ret; }"
    >>> program = parse(text)
    >>> program.entries["f"].params
    (Param(name='p', type='u64', size=8, align=8),)

    Raises:
        CompileError: where the text is no PTX, with its line.

    Source: PTX ISA, "Syntax" and "Directives".
    """
    return Parser(text).parse()
