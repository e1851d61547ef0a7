"""The body of a PTX function to records: declarations, labels and instructions, scopes resolved to unique names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from convlab.emulator.calls import from_registers, through_params
from convlab.emulator.program import (
    Address,
    Function,
    Immediate,
    Instruction,
    Operand,
    Param,
    Place,
    Register,
    Signature,
    Symbol,
    Variable,
    Vector,
)
from convlab.emulator.speculation import guard_loads
from convlab.emulator.tokens import CONSTANTS, SHOWN, SUM, UNARY, Reader
from convlab.emulator.types import DTYPES, SIZES

__all__ = ["LARGEST_PARAM", "Body"]

DEEPEST = 200  # scopes inside of each other
LARGEST_PARAM = 1 << 15  # bytes; CUDA allows a kernel one less than 32 KB
LONGEST_VECTOR = 64  # operands in braces; no instruction has as many
ALIGNMENTS = tuple(1 << n for n in range(11))
MOST_REGISTERS = 1 << 16  # of a function: far beyond what any compiler makes
ALL_REGISTERS = 1 << 20  # of all functions together


class Scope:
    """What a pair of braces declares: the names of an inner one are given a number, so that all differ."""

    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.first = first  # the instruction it begins with
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.tables: list[str] = []  # lists of labels, whose names are resolved when scopes end

    def declare(self, name: str) -> str:
        """The unique name of what is declared here."""
        self.names[name] = f"{name}#{self.number}" if self.number else name
        return self.names[name]


class Body(Reader):
    """Reads what stands between the braces of a function."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text)
        self.name = name
        self.has_source = any(token.text == ".loc" for token in self.tokens)
        self.files: dict[int, str] = {}
        self.place = Place("", 0)
        self.latest: dict[tuple[int, int, int], Place] = {}  # .loc (file, line, column): inlined_at points here
        self.scopes: list[Scope] = []
        self.opened = 0
        self.declared = 0  # registers so far
        self.in_registers: set[str] = set()  # parameters of the function at hand that are no .param variables

    def variables(self, space: str) -> Iterator[Variable]:
        """Variables after their space; modules have them as well."""
        raise NotImplementedError

    def params(self) -> tuple[Param, ...]:
        """A parenthesised parameter list."""
        raise NotImplementedError

    def body(self, function: Function) -> None:
        """Everything up to the closing brace of the function."""
        self.place, self.opened = Place("", 0), 0
        self.scopes = [Scope(0, 0)]
        for param in (*function.signature.returns, *function.signature.params):
            self.scopes[0].names[param.name] = param.name
            if param.name in self.in_registers:
                function.registers[param.name] = param.type
        while self.scopes:
            word = self.take()
            if word == ";":
                continue
            if word == "{":
                if len(self.scopes) == DEEPEST:
                    raise self.error("these brackets are nested too deeply.")
                self.opened += 1
                self.scopes.append(Scope(self.opened, len(function.instructions)))
            elif word == "}":
                self._close(self.scopes.pop(), function)
            elif word in DIRECTIVES:
                DIRECTIVES[word](self, function)
            elif word[0] == ".":
                raise self.error(f"{word[:SHOWN]!r} is no directive of a function.")
            elif self.took(":"):
                self._label(word, function)
            else:
                function.instructions += through_params(function, self._instruction(word, function))

        if self.in_registers:
            from_registers(function, self.in_registers)
        guard_loads(function)

    def _close(self, scope: Scope, function: Function) -> None:
        """Rename the labels of an inner scope where its instructions and its lists use them."""
        for table in scope.tables:
            function.tables[table] = tuple(scope.labels.get(label, label) for label in function.tables[table])
        if self.scopes:
            self.scopes[-1].tables += scope.tables
        if not scope.labels:
            return
        for at in range(scope.first, len(function.instructions)):
            old = function.instructions[at]
            if not any(isinstance(o, Symbol) and o.name in scope.labels for o in old.operands):
                continue
            operands = (
                Symbol(scope.labels[o.name]) if isinstance(o, Symbol) and o.name in scope.labels else o
                for o in old.operands
            )
            function.instructions[at] = replace(old, operands=tuple(operands))

    def _label(self, name: str, function: Function) -> None:
        """``name:`` before an instruction, a list of branch targets, or a prototype."""
        scope = self.scopes[-1]
        if self.took(".branchtargets"):
            scope.tables.append(scope.declare(name))
            function.tables[scope.tables[-1]] = tuple(self.names())
            self.take(";")
        elif self.took(".callprototype"):
            returns = self.params() if self.peek() == "(" else ()
            self.take()  # an underscore in the place of the name
            prototype = Signature(returns, self.params() if self.peek() == "(" else ())
            function.prototypes[scope.declare(name)] = prototype
            while self.take() != ";":
                pass
        elif self.took(".calltargets"):
            target = self.names()[0]
            if target not in function.module.declared:
                raise self.error(f"{target[:SHOWN]!r} is no function that is declared before this list.")
            function.prototypes[scope.declare(name)] = function.module.declared[target]
            self.take(";")
        else:
            unique = f"{name}#{scope.number}" if scope.number else name
            if scope.number:
                scope.labels[name] = unique
            function.labels[unique] = len(function.instructions)

    def location(self, _: Function | None = None) -> None:
        """``.loc file line column``, with ``inlined_at file line column`` where the compiler inlined a call."""
        key = (self.integer(), self.integer(), self.integer())
        file, line = self.files.get(key[0], ""), key[1]
        callers: tuple[tuple[str, int], ...] = ()
        while self.took(","):
            if self.take() == "function_name":
                self.take()
                self.offset()
                continue
            caller = self.latest.get((self.integer(), self.integer(), self.integer()))
            if caller is not None:
                callers = ((caller.file, caller.line), *caller.callers)
        # Line 0 marks code that the compiler moved or made: it stays with the line before it.
        if line:
            self.place = Place(file, line, callers)
        self.latest[key] = self.place

    def _registers(self, function: Function) -> None:
        """``.reg .b32 %r<8>;`` declares %r0 to %r7; names may be listed; a vector has the parts x, y, z, w."""
        word = self.take()
        count = int(word[2]) if word in (".v2", ".v4") else 0
        kind = (self.take() if count else word)[1:]
        if kind not in DTYPES:
            instead = " Keep the two halves in .b64 registers, loaded with ld.v2.b64." if kind == "b128" else ""
            raise self.error(f"the emulator has no registers of type .{kind[:20]}.{instead}")
        while True:
            names = [self.take()]
            if self.took("<"):
                names = [f"{names[0]}{index}" for index in range(min(self.integer(SUM), MOST_REGISTERS + 1))]
                self.take(">")
            more = len(names) * max(1, count)
            self.declared += more
            if len(function.registers) + more > MOST_REGISTERS:
                raise self.error(f"{function.name[:40]} declares more than {MOST_REGISTERS:,} registers.")
            if self.declared > ALL_REGISTERS:
                raise self.error(f"all functions together declare more than {ALL_REGISTERS:,} registers.")
            for name in names:
                self._register(function, name, kind, count)
            if self.take() == ";":
                return

    def _register(self, function: Function, name: str, kind: str, count: int) -> None:
        """One register, or the ``count`` parts of a vector: ``v.x`` or ``v.r``, …"""
        scope = self.scopes[-1]
        unique = scope.declare(name)
        if not count:
            function.registers[unique] = kind
        for part, colour in zip("xyzw"[:count], "rgba", strict=False):
            function.registers[f"{unique}.{part}"] = kind
            scope.names[f"{name}.{part}"] = scope.names[f"{name}.{colour}"] = f"{unique}.{part}"

    def _param(self, function: Function) -> None:
        """``.param .b64 param0;`` declares what is passed to another function."""
        param = self.param()
        self.take(";")
        unique = self.scopes[-1].declare(param.name)
        function.scratch[unique] = replace(param, name=unique)

    def _variable(self, function: Function) -> None:
        space = self.tokens[self.at - 1].text[1:]
        for variable in self.variables(space):
            unique = self.scopes[-1].declare(variable.name)
            function.variables[unique] = replace(variable, name=unique)

    def _static(self, function: Function) -> None:
        """A variable of the module that only this function knows the name of."""
        for variable in self.variables(self.tokens[self.at - 1].text[1:]):
            unique = self.scopes[-1].names[variable.name] = f"{variable.name}#{function.name}#{self.opened}"
            function.module.variables[unique] = replace(variable, name=unique)

    def pragma(self, _: Function | None = None) -> None:
        """A hint for a compiler."""
        self.names()
        self.take(";")

    def alignment(self) -> int:
        """What follows ``.align``."""
        align = self.integer()
        if align not in ALIGNMENTS:
            raise self.error(f"an alignment is a power of two up to {max(ALIGNMENTS):,}.")
        return align

    def param(self) -> Param:
        """One parameter after its ``.param``: ``.align 4 .b8 name[64]`` or ``.u64 name``."""
        align, kind, count = 0, "", 1
        while self.peek().startswith("."):
            word = self.take()
            if word == ".align":
                align = self.alignment()
            elif word[1:] in SIZES:
                kind = word[1:]
        name = self.take()
        if self.took("["):
            count = 0 if self.peek() == "]" else self.integer()
            self.take("]")
        if not 0 <= SIZES[kind] * count <= LARGEST_PARAM:
            raise self.error(f"a parameter has more than {LARGEST_PARAM:,} bytes.")
        return Param(name, kind, SIZES[kind] * count, align or SIZES[kind])

    def _instruction(self, word: str, function: Function) -> Instruction:
        """``@%p1 opcode operands;``."""
        guard = None
        if word == "@":
            negated = self.took("!")
            guard = Register(self._resolve(self.take()), negated)
            word = self.take()
        place = self.place if self.has_source else Place(self.name, self.line())
        parts = tuple(word.split("."))
        lists = ("{", "(") if parts[0] == "call" else ("{",)
        operands: list[Operand] = []
        while not self.took(";"):
            self.took(",")
            operands.append(self._operand(function, lists))
        return Instruction(parts, tuple(operands), guard, place)

    def _operand(self, function: Function, lists: tuple[str, ...]) -> Operand:
        """A register, a literal, a name, ``[address]`` or ``{vector}``; those of a call stand in ``(brackets)``."""
        if self.peek() == "[":
            return self._address(function)
        if self.peek() in lists:
            close = "}" if self.take() == "{" else ")"
            items: list[Register | Symbol | Immediate] = []
            while not self.took(close):
                self.took(",")
                items.append(self._simple(function))
            if close == "}" and len(items) > LONGEST_VECTOR:
                raise self.error(f"a list in braces has {len(items):,} operands.")
            return Vector(tuple(items))
        first = self._simple(function)
        if self.peek() == "[":
            raise self.error("an element of an array is named by its bytes, as in [name+8], and not by its index.")
        if isinstance(first, Symbol) and f"{first.name}.x" in function.registers:
            return Vector(tuple(Register(r) for part in "xyzw" if (r := f"{first.name}.{part}") in function.registers))
        if not self.took("|"):
            return first
        return Vector((first, self._simple(function)))

    def _simple(self, function: Function) -> Register | Symbol | Immediate:
        """An operand without brackets."""
        negated = self.peek() == "!"
        word = self.ahead(negated)
        if word.kind == "number" or word.text in UNARY or word.text == "(" or word.text in CONSTANTS:
            return Immediate(self.literal())
        self.at += negated + 1
        if word.kind != "word":
            raise self.error(f"an operand was expected, but the text has {word.text[:SHOWN]!r}.")
        name = self._resolve(word.text)
        if name in function.registers:
            return Register(name, negated)
        return Symbol(name, self.offset())

    def _address(self, function: Function) -> Address | Vector:
        """``[%rd1+8]``, ``[name+-4]``, ``[name]`` or ``name[8]``; ``[%rd1, {%f1, %f2}]`` of textures as a vector."""
        self.take("[")
        base = self._simple(function)
        offset = self.offset()
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset + offset
        if self.took(","):
            return Vector((base, *self._coordinates(function)))
        self.take("]")
        return Address(base, offset)

    def _coordinates(self, function: Function) -> list[Register | Symbol | Immediate]:
        """The rest of ``[%rd1, {%f1, %f2}]``: nothing executes it yet, but kernels beside it may run."""
        items = []
        while not self.took("]"):
            if not any(map(self.took, ",{}")):
                items.append(self._simple(function))
        return items

    def offset(self) -> int:
        """``+8``, ``-8`` or ``+-8`` after a name; nothing is zero."""
        if self.peek() not in ("+", "-"):
            return 0
        self.took("+")
        return self.integer(SUM)

    def _resolve(self, name: str) -> str:
        """The unique name of what a name means here."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        return name


DIRECTIVES: dict[str, Callable[[Body, Function], None]] = {
    ".loc": Body.location,
    ".reg": Body._registers,
    ".param": Body._param,
    ".local": Body._variable,
    ".shared": Body._variable,
    ".global": Body._static,
    ".const": Body._static,
    ".pragma": Body.pragma,
}
