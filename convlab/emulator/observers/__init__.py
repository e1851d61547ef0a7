"""Observers: each sees what a launch does, and makes something of it; the machine knows none of them by name.

An observer has any of these methods, and is told only of what it has a method for:

- ``attach(machine)`` before the launch, ``start(machine)`` before each chunk of blocks, ``finish(machine)`` at the end;
- ``step(at, lanes)``: lanes run a step, a basic block;
- ``access(site, address, lanes, values)``: lanes are about to access memory, at addresses in the site's space;
- ``branch(at, lanes, taken, fallen)``: lanes jumped, or not, at the end of a step;
- ``meeting(step, meeting, lanes)``: lanes met at a barrier or before an exchange, and go on from this step;
- ``barrier(lanes, keys)``, ``arrival(lanes, keys)``: threads go on from barriers, or arrive without waiting; a key is
  the block and the barrier's number; ``syncwarp(lanes, masks)``; ``fence(lanes)``;
- ``commit(lanes)`` and ``wait(pending, lanes)``: asynchronous copies were grouped, and waited for;
- ``multiply(flop, useful, lanes)``: a Tensor Core instruction: operations a warp, and those of all with no factor 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Hooks"]

METHODS = (
    *("start", "finish", "step", "access", "branch", "meeting", "barrier", "arrival"),
    *("syncwarp", "fence", "commit", "wait", "multiply"),
)


class Hooks(dict[str, list[Callable[..., None]]]):
    """The methods of all observers by name: ``for tell in hooks["step"]: tell(at, lanes)``."""

    def __init__(self) -> None:
        super().__init__({name: [] for name in METHODS})

    def add(self, observer: Any) -> None:
        """Let an observer be told of whatever it has a method for."""
        for name, methods in self.items():
            if hasattr(observer, name):
                methods.append(getattr(observer, name))
