"""The body of a PTX function to records: declarations, labels and instructions, scopes resolved to unique names."""

from __future__ import annotations

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
from convlab.emulator.tokens import SUM, Reader, number
from convlab.emulator.types import DTYPES, SIZES

__all__ = ["Body"]

DEEPEST = 200  # scopes inside of each other
LARGEST_PARAM = 1 << 15  # bytes; CUDA allows a kernel one less than 32 KB
LONGEST_VECTOR = 64  # operands in braces; no instruction has as many
ALIGNMENTS = tuple(1 << n for n in range(11))
MOST_REGISTERS = 1 << 16  # of a function: far beyond what any compiler makes


class Scope:
    """What a pair of braces declares: the names of an inner one are given a number, so that all differ."""

    def __init__(self, number: int, first: int) -> None:
        self.number = number
        self.first = first  # the instruction it begins with
        self.names: dict[str, str] = {}
        self.labels: dict[str, str] = {}

    def declare(self, name: str) -> str:
        """The unique name of what is declared here."""
        self.names[name] = f"{name}#{self.number}" if self.number else name
        return self.names[name]


class Body(Reader):
    """Reads what stands between the braces of a function."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.files: dict[int, str] = {}
        self.place = Place("", 0)
        self.latest: dict[tuple[int, int, int], Place] = {}  # .loc (file, line, column): inlined_at points here
        self.scopes: list[Scope] = []
        self.opened = 0
        self.in_registers: set[str] = set()  # parameters of the function at hand that are no .param variables

    def variable(self, space: str) -> Variable:
        """A variable after its space; modules have them as well."""
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
            if word == "{":
                if len(self.scopes) == DEEPEST:
                    raise self.error("these brackets are nested too deeply.")
                self.opened += 1
                self.scopes.append(Scope(self.opened, len(function.instructions)))
            elif word == "}":
                self._close(self.scopes.pop(), function)
            elif word[0] == "." and word in DIRECTIVES:
                DIRECTIVES[word](self, function)
            elif self.took(":"):
                self._label(word, function)
            else:
                function.instructions += through_params(function, self._instruction(word, function))

        if self.in_registers:
            from_registers(function, self.in_registers)

    def _close(self, scope: Scope, function: Function) -> None:
        """Rename the labels of an inner scope where its instructions use them."""
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
        if self.took(".branchtargets"):
            function.tables[name] = tuple(self._names())
        elif self.took(".callprototype"):
            returns = self.params() if self.peek() == "(" else ()
            self.take()  # an underscore in the place of the name
            function.prototypes[name] = Signature(returns, self.params() if self.peek() == "(" else ())
            while self.take() != ";":
                pass
        elif self.took(".calltargets"):
            self._names()
        else:
            scope = self.scopes[-1]
            unique = f"{name}#{scope.number}" if scope.number else name
            if scope.number:
                scope.labels[name] = unique
            function.labels[unique] = len(function.instructions)

    def _names(self) -> list[str]:
        names = []
        while (word := self.take()) != ";":
            if word != ",":
                names.append(word)
        return names

    def _loc(self, function: Function) -> None:
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

    def _registers(self, function: Function) -> None:
        """``.reg .b32 %r<8>;`` declares %r0 to %r7; names may be listed; a vector has the parts x, y, z, w."""
        word = self.take()
        count = int(word[2]) if word in (".v2", ".v4") else 0
        kind = (self.take() if count else word)[1:]
        if kind not in DTYPES:
            raise self.error(f"the emulator has no registers of type .{kind[:20]}.")
        scope = self.scopes[-1]
        while True:
            name = self.take()
            if self.took("<"):
                many = self.integer()
                if len(function.registers) + many > MOST_REGISTERS:
                    raise self.error(f"{function.name[:40]} declares more than {MOST_REGISTERS:,} registers.")
                for index in range(many):
                    function.registers[scope.declare(f"{name}{index}")] = kind
                self.take(">")
            elif count:
                scope.declare(name)
                function.registers.update((scope.declare(f"{name}.{part}"), kind) for part in "xyzw"[:count])
            else:
                function.registers[scope.declare(name)] = kind
            if self.take() == ";":
                return

    def _param(self, function: Function) -> None:
        """``.param .b64 param0;`` declares what is passed to another function."""
        param = self.param()
        self.take(";")
        unique = self.scopes[-1].declare(param.name)
        function.scratch[unique] = replace(param, name=unique)

    def _variable(self, function: Function) -> None:
        space = self.tokens[self.at - 1].text[1:]
        variable = self.variable(space)
        unique = self.scopes[-1].declare(variable.name)
        function.variables[unique] = replace(variable, name=unique)

    def _pragma(self, function: Function) -> None:
        while self.take() != ";":
            pass

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
        operands: list[Operand] = []
        while not self.took(";"):
            self.took(",")
            operands.append(self._operand(function))
        return Instruction(tuple(word.split(".")), tuple(operands), guard, self.place)

    def _operand(self, function: Function) -> Operand:
        """A register, a literal, a name, ``[address]`` or ``{vector}``."""
        if self.peek() == "[":
            return self._address(function)
        if self.peek() in ("{", "("):
            close = "}" if self.take() == "{" else ")"
            items: list[Register | Symbol | Immediate] = []
            while not self.took(close):
                self.took(",")
                items.append(self._simple(function))
            if close == "}" and len(items) > LONGEST_VECTOR:
                raise self.error(f"a list in braces has {len(items):,} operands.")
            return Vector(tuple(items))
        first = self._simple(function)
        if isinstance(first, Symbol) and f"{first.name}.x" in function.registers:
            return Vector(tuple(Register(r) for part in "xyzw" if (r := f"{first.name}.{part}") in function.registers))
        if not self.took("|"):
            return first
        return Vector((first, self._simple(function)))

    def _simple(self, function: Function) -> Register | Symbol | Immediate:
        """An operand without brackets."""
        negated = self.took("!")
        sign = -1 if self.took("-") else 1
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        text = self.take()
        if token is not None and token.kind == "number":
            return Immediate(sign * number(text))
        name = self._resolve(text)
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


DIRECTIVES = {
    ".loc": Body._loc,
    ".reg": Body._registers,
    ".param": Body._param,
    ".local": Body._variable,
    ".shared": Body._variable,
    ".pragma": Body._pragma,
}
