"""The machine that a nest runs on: an array of processing elements, their registers, a buffer, and what moves cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any, Literal

from convlab.spec.values import UnfitError, integer, shown

__all__ = ["TENSORS", "Array", "Costs", "Network"]

TENSORS = ("x", "w", "y")
Network = Literal["multicast", "systolic"]


@dataclass(frozen=True, slots=True)
class Costs:
    """The energy of one multiply-add and of moving one word, relative to a read of a register.

    Source: Chen, Emer and Sze, Eyeriss: a spatial architecture for energy-efficient dataflow (ISCA 2016), table IV: a
    65 nm process, 16-bit words, a register file of 0.5 KB, a neighbour 1 to 2 mm away, a buffer of more than 100 KB.
    """

    mac: float = 1
    register: float = 1
    neighbour: float = 2
    buffer: float = 6
    dram: float = 200

    def __post_init__(self) -> None:
        for name, cost in asdict(self).items():
            if not isinstance(cost, int | float) or not isfinite(cost) or cost < 0:
                fix = f"Fix: give {name} a number, 0 or more."
                raise ValueError(f"{name}={shown(cost)} is no cost.\n  In: Costs\n  {fix}")


@dataclass(frozen=True, slots=True)
class Array:
    """A rectangle of processing elements (PEs), each with registers of its own, all under one buffer.

    >>> Array(rows=12, cols=14, registers=256, buffer=54 * 1024).pes
    168

    Parameters: ``rows`` × ``cols`` PEs; ``registers`` is the words of one PE, for all tensors together or for each
    (``{"x": 12, "w": 224, "y": 24}``); ``buffer`` is the words of the buffer; ``costs`` is the energy of a move;
    ``network`` is "multicast", where a word reaches all PEs that want it in one cycle, or "systolic", where it goes
    from neighbour to neighbour, a cycle for each. Raises ``ValueError`` for sizes below 1 and another network.
    """

    rows: int
    cols: int
    registers: int | Mapping[str, int] = 256
    buffer: int = 64 * 1024
    costs: Costs = field(default_factory=Costs)
    network: Network = "multicast"

    def __post_init__(self) -> None:
        try:
            sizes = {name: integer(name, getattr(self, name), least=1) for name in ("rows", "cols", "buffer")}
            object.__setattr__(self, "registers", _registers(self.registers))
            if not isinstance(self.costs, Costs):
                raise UnfitError(f"costs={shown(self.costs)} is not a Costs", "Give Costs(dram=500), or leave it out")
            if self.network not in ("multicast", "systolic"):
                raise UnfitError(f"There is no network {self.network!r}", 'Use "multicast" or "systolic"')
        except UnfitError as error:
            raise error.within(repr(self)) from None
        for name, size in sizes.items():
            object.__setattr__(self, name, size)

    @property
    def pes(self) -> int:
        """Processing elements."""
        return self.rows * self.cols

    def __str__(self) -> str:
        words = self.registers if isinstance(self.registers, int) else "+".join(map(str, self.registers.values()))
        return f"{self.rows}×{self.cols} PEs of {words} words, a buffer of {self.buffer}, {self.network}"


def _registers(given: Any) -> int | dict[str, int]:
    if not isinstance(given, Mapping):
        return integer("registers", given, least=1)
    if set(given) != set(TENSORS):
        names = ", ".join(map(str, given)) or "nothing"
        raise UnfitError(f"registers names {names}", "Give one number, or one for each of x, w and y")
    return {tensor: integer(f"registers[{tensor!r}]", given[tensor], least=1) for tensor in TENSORS}
