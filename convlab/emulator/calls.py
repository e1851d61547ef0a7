"""Calls: whom they name, and those with operands in registers as calls through ``.param``, as compilers write them."""

from __future__ import annotations

from dataclasses import replace

from convlab.emulator.program import (
    Address,
    Function,
    Instruction,
    Operand,
    Param,
    Place,
    Register,
    Signature,
    Symbol,
    Vector,
)
from convlab.errors import CompileError

__all__ = ["callee", "from_registers", "signature_of", "through_params"]


def callee(instruction: Instruction) -> tuple[Operand, Operand | None]:
    """The function that a call names, and the name of its prototype where it is called through a pointer."""
    rest = instruction.operands[1:] if isinstance(instruction.operands[0], Vector) else instruction.operands
    last = rest[-1] if len(rest) > 1 and not isinstance(rest[-1], Vector) else None
    return rest[0], last


def signature_of(function: Function, instruction: Instruction) -> Signature | None:
    """What a called function returns and takes; ``None`` when nobody declared it."""
    target, prototype = callee(instruction)
    name = target.name if isinstance(target, Symbol) else ""
    own = function.module.functions.get(name)
    known = own.signature if own else function.module.declared.get(name)
    if isinstance(prototype, Symbol):
        known = function.prototypes.get(prototype.name)
    given = sum(len(operand.items) for operand in instruction.operands if isinstance(operand, Vector))
    if known is not None and given != len(known.returns) + len(known.params):
        raise CompileError(f"{instruction.place}: a call passes another number of values than its function takes.")
    return known


def through_params(function: Function, instruction: Instruction) -> list[Instruction]:
    """A call, after stores of the arguments that stand in registers or are literals, and before loads of its results.

    Hand-written PTX passes registers; everybody else may rely on ``.param`` variables.
    """
    signature = signature_of(function, instruction) if instruction.parts[0] == "call" else None
    if signature is None:
        return [instruction]
    before: list[Instruction] = []
    after: list[Instruction] = []
    kinds = iter((*signature.returns, *signature.params))
    operands: list[Operand] = []
    for operand in instruction.operands:
        if isinstance(operand, Vector):
            moves = after if operand is instruction.operands[0] else before
            opcode = "ld" if moves is after else "st"
            items = (_item(function, instruction, item, next(kinds), opcode, moves) for item in operand.items)
            operands.append(Vector(tuple(items)))
        else:
            operands.append(operand)
    return [*before, replace(instruction, operands=tuple(operands)), *after]


def _item(
    function: Function, call: Instruction, item: Operand, param: Param, opcode: str, moves: list[Instruction]
) -> Symbol:
    """One operand of a call as a ``.param`` variable; the move between it and the register is added to ``moves``."""
    if isinstance(item, Symbol) and item.name in function.scratch:
        return item
    name = Symbol(f"{param.name}#{len(function.scratch)}")
    function.scratch[name.name] = replace(param, name=name.name)
    operands = (item, Address(name)) if opcode == "ld" else (Address(name), item)
    moves.append(Instruction((opcode, "param", param.type), operands, call.guard, call.place))
    return name


def from_registers(function: Function, names: set[str]) -> Function:
    """A function whose parameters are registers, as one that loads them at its start and stores its result at last."""
    taken = [param for param in function.signature.params if param.name in names]
    given = [param for param in function.signature.returns if param.name in names]
    if not taken and not given:
        return function
    if not function.instructions or function.instructions[-1].parts != ("ret",) or function.instructions[-1].guard:
        function.instructions.append(Instruction(("ret",), (), None, Place("", 0)))
    loads = [_move("ld", param, None, function.instructions[0]) for param in taken]
    code: list[Instruction] = [*loads]
    moved = {}
    for at, instruction in enumerate(function.instructions):
        moved[at] = len(code)
        if instruction.parts[0] == "ret":
            code += [_move("st", param, instruction.guard, instruction) for param in given]
        code.append(instruction)
    moved[len(function.instructions)] = len(code)
    function.labels = {label: moved[at] for label, at in function.labels.items()}
    function.instructions = code
    function.signature = Signature(
        tuple(replace(p, name=f"{p.name}#param") if p in given else p for p in function.signature.returns),
        tuple(replace(p, name=f"{p.name}#param") if p in taken else p for p in function.signature.params),
    )
    return function


def _move(opcode: str, param: Param, guard: Register | None, near: Instruction) -> Instruction:
    """Between a register and the ``.param`` variable that stands for it."""
    register, address = Register(param.name), Address(Symbol(f"{param.name}#param"))
    operands = (register, address) if opcode == "ld" else (address, register)
    return Instruction((opcode, "param", param.type), operands, guard, near.place)
