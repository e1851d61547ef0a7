"""PTX text to records: the directives of a module. Bodies of functions are read by `body.py`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import prod
from typing import NamedTuple

import numpy as np

from convlab.emulator.addresses import buffer_address, function_address
from convlab.emulator.body import LARGEST_PARAM, Body
from convlab.emulator.program import Function, Param, Program, Signature, Variable
from convlab.emulator.tokens import CONSTANTS, SHOWN, number
from convlab.emulator.types import SIZES, constant
from convlab.errors import CompileError

__all__ = ["parse"]

EMPTY = np.zeros(0, np.uint8)
LARGEST_VARIABLE = 1 << 30  # bytes: nobody's laptop should swap for a typing error in an array's size
LIMITS = (
    *(".maxntid", ".reqntid", ".minnctapersm", ".maxnreg", ".maxnctapersm", ".maxclusterrank"),
    ".reqnctapercluster",
)
IGNORED = (".visible", ".extern", ".weak", ".common", ";")


class Pending(NamedTuple):
    """An address in an initial value: ``(name + offset) >> shift``, ``size`` bytes of it at ``at``."""

    variable: Variable
    at: int
    size: int
    name: str
    offset: int
    shift: int


class Parser(Body):
    """Reads a whole file into a `Program`."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, name)
        self.program = Program()
        self.taken = 0  # bytes of all variables
        # Addresses in initial values are filled in at the end: they may name what comes later.
        self.pending: list[Pending] = []
        self.aliases: list[tuple[str, str]] = []

    def parse(self) -> Program:
        """Read the file."""
        try:
            for head in self._file_table():
                self.files[int(head[0])] = head[1].strip('"')
            while self.peek():
                self._directive(self.take())
            self.program.functions |= {
                alias: self.program.functions[name] for alias, name in self.aliases if name in self.program.functions
            }
            places = {v.name: buffer_address(n) for n, v in enumerate(self.program.in_global_memory())}
            places |= {function: function_address(n) for n, function in enumerate(self.program.functions)}
            for pending in self.pending:
                self._fill_in(pending, places)
        # A word where a number must stand, or none: the records' constructors notice.
        except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise self.error("this is no PTX.") from error
        except RecursionError as error:
            raise self.error("these brackets are nested too deeply.") from error
        return self.program

    def _file_table(self) -> list[list[str]]:
        """The operands of all ``.file`` directives, which NVRTC writes at the end, after their use."""
        found = []
        for index, token in enumerate(self.tokens):
            if token.text == ".file":
                found.append([t.text for t in self.tokens[index + 1 : index + 3]])
        return found

    def _directive(self, word: str) -> None:
        """One directive outside of functions."""
        if word in MODULE:
            MODULE[word](self)
        elif word not in IGNORED:
            raise self.error(f"{word[:SHOWN]!r} is no directive.")

    def _version(self) -> None:
        self.program.version = self.take()

    def _target(self) -> None:
        self.program.target = self.names()[0]

    def _file(self) -> None:
        self.take()
        self.names()

    def _alias(self) -> None:
        alias, _, name, _ = (self.take() for _ in range(4))
        self.aliases.append((alias, name))

    def _address_size(self) -> None:
        if self.integer() != 64:
            raise self.error("the emulator has addresses of 64 bits only: write .address_size 64, and .u64 pointers.")

    def _global(self) -> None:
        """Variables; a declaration may come before or after the definition."""
        for variable in self.variables(self.tokens[self.at - 1].text[1:]):
            known = self.program.variables.get(variable.name)
            if known is None or not known.data.size:
                self.program.variables[variable.name] = variable

    def _function(self) -> None:
        """A kernel or a device function; without a body it is only declared."""
        word = self.tokens[self.at - 1].text
        self.in_registers = set()
        returns = self.params() if word == ".func" and self.peek() == "(" else ()
        name = self.take()
        function = Function(name, self.program, Signature(returns, self.params() if self.peek() == "(" else ()))
        size = sum(param.size for param in function.params)
        if word == ".entry" and size > LARGEST_PARAM:
            raise self.error(f"{name[:40]} has {size:,} bytes of parameters; a kernel has {LARGEST_PARAM:,} at most.")
        while self.peek() not in ("{", ";", ""):
            directive = self.take()
            if directive in LIMITS:
                function.limits[directive[1:]] = self.numbers()
        if word == ".func":
            self.program.declared.setdefault(name, function.signature)  # it may call itself
        if self.took(";"):
            return
        self.take("{")
        self.body(function)
        kind = self.program.entries if word == ".entry" else self.program.functions
        kind[name] = function

    def params(self) -> tuple[Param, ...]:
        """A parenthesised list of parameters."""
        self.take("(")
        params = []
        while not self.took(")"):
            self.took(",")
            space = self.take()
            if space not in (".param", ".reg"):
                raise self.error(f"'.param' was expected, but the text has {space!r}.")
            params.append(self.param())
            if space == ".reg":
                self.in_registers.add(params[-1].name)
        return tuple(params)

    def variables(self, space: str) -> Iterator[Variable]:
        """``.align 4 .b8 name[64] = {1, 2}, other;`` after its space; what has no initial value is zero."""
        align, kind, vector = 0, "b8", 1
        while (word := self.take())[0] == ".":
            if word == ".align":
                align = self.alignment()
            elif word in (".v2", ".v4"):
                vector = int(word[2])
            elif word == ".attribute":
                self._skip_brackets()
            elif word[1:] in SIZES:
                kind = word[1:]
        if word == "[":  # a bank of constant memory, as old PTX has them
            self.integer()
            self.take("]")
            yield from self.variables(space)
            return
        while True:
            yield self._declared(Variable(word, space, align or SIZES[kind] * vector, EMPTY, kind), vector)
            if not self.took(","):
                break
            word = self.take()
        self.take(";")

    def _declared(self, variable: Variable, vector: int) -> Variable:
        """A variable with its bytes, after its name: ``[64] = {1, 2}``."""
        shape = list[int]()
        while self.took("["):
            shape.append(0 if self.peek() == "]" else self.integer())
            self.take("]")
        has_value = self.took("=")
        if has_value and shape and not shape[0]:
            shape[0] = self._count()
        size = SIZES[variable.element] * vector * prod(shape)
        self.taken += size
        if min(shape, default=0) < 0 or not 0 <= size <= LARGEST_VARIABLE or self.taken > LARGEST_VARIABLE:
            all_together = "" if self.taken == size else " of all variables"
            raise CompileError(
                f"The variable {variable.name[:40]} has {size:,} bytes; "
                f"the emulator takes {LARGEST_VARIABLE:,} at most{all_together}."
            )
        variable = replace(variable, data=np.zeros(size, np.uint8))
        if has_value:
            self._initial(variable, [*shape, vector])
        return variable

    def _count(self) -> int:
        """How many elements, or rows, the initial value that comes next has."""
        count, depth = 1, 0
        for token in islice(self.tokens, self.at, None):
            depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(token.text, 0)
            count += token.text == "," and depth == 1
            if not depth:
                break
        return count

    def _initial(self, variable: Variable, shape: list[int]) -> None:
        """An initial value: numbers and addresses, in braces for an array and each of its rows."""
        at, size, starts = 0, SIZES[variable.element], list[int]()
        while True:
            if self.took("{"):
                starts.append(at)
            elif self.took("}"):
                at = starts.pop() + size * prod(shape[len(starts) :])  # a row that is not full goes on with zeros
            elif not self.took(","):
                if at + size > variable.data.size:
                    raise self.error(f"the initial value of {variable.name[:40]} has more elements than it has.")
                self._element(variable, at, size)
                at += size
            if not starts:
                return

    def _element(self, variable: Variable, at: int, size: int) -> None:
        """One element: a number, or ``name``, ``generic(name)``, ``0xFF(name)`` plus bytes."""
        token = self.tokens[self.at]
        following = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
        masked = token.kind == "number" and following == "("  # 0xFF00(name): one byte of an address
        if (token.kind == "word" and token.text not in CONSTANTS) or masked:
            shift = self._shift() if masked else 0
            name = self.take()
            if name == "generic" and self.took("("):
                name = self.take()
                self.take(")")
            if masked:
                self.take(")")
            self.pending.append(Pending(variable, at, size, name, self.offset(), shift))
            return
        value = self.literal()
        data = constant(value, np.dtype(f"u{size}")).tobytes()
        variable.data[at : at + size] = np.frombuffer(data, np.uint8)

    def _shift(self) -> int:
        """The lowest bit of a mask such as ``0xFF00``, before its bracket."""
        mask = number(self.take())
        self.take("(")
        if not isinstance(mask, int) or mask <= 0:
            raise self.error("this mask of an address has no bits.")
        return (mask & -mask).bit_length() - 1

    def _fill_in(self, each: Pending, places: dict[str, int]) -> None:
        """The address of a variable or function, into an initial value."""
        if each.name not in places:
            name = each.variable.name
            raise CompileError(f"The initial value of {name} names {each.name[:40]!r}, which the PTX does not define.")
        address = places[each.name] + each.offset >> each.shift
        data = constant(address, np.dtype(f"u{each.size}")).tobytes()
        each.variable.data[each.at : each.at + each.size] = np.frombuffer(data, np.uint8)

    def _skip_brackets(self) -> None:
        """Pass over ``(...)``."""
        self.take("(")
        while self.take() != ")":
            pass

    def _skip_braces(self) -> None:
        """Pass over everything up to the matching closing brace."""
        while self.take() != "{":
            pass
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)


MODULE = {
    ".version": Parser._version,
    ".target": Parser._target,
    ".address_size": Parser._address_size,
    ".file": Parser._file,
    ".loc": Parser.location,
    ".pragma": Parser.pragma,
    ".alias": Parser._alias,
    ".section": Parser._skip_braces,
    **dict.fromkeys((".entry", ".func"), Parser._function),
    **dict.fromkeys((".global", ".const", ".shared"), Parser._global),
}


def parse(text: str, name: str = "module.ptx") -> Program:
    """Parse PTX text; ``name`` is what messages call it where it names no lines of a source.

    >>> text = ".version 9.0\\n.target sm_80\\n.address_size 64\\n.visible .entry f(.param .u64 p) { ret; }"
    >>> program = parse(text)
    >>> program.entries["f"].params
    (Param(name='p', type='u64', size=8, align=8),)

    Raises:
        CompileError: where the text is no PTX, with its line.

    Source: PTX ISA, "Syntax" and "Directives".
    """
    return Parser(text, name).parse()
