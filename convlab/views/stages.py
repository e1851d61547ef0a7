"""The stages of a tiled product, from a trace: what a warp loads before it fills its part of a shared tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from convlab.emulator.observers.trace import Trace, TraceAccess

__all__ = ["Element", "Stage", "elements", "stages"]

Element = tuple[int, ...]  # the indices of an element of a tensor
Loads = dict[str, list[tuple[int, Element]]]  # (lane, element) by tensor


@dataclass
class Stage:
    """What one warp loads for one tile: (lane, element) by tensor; ``rows`` counts its stores of each lane."""

    loads: Loads
    rows: int = 0


@dataclass
class _Builder:
    """The stages so far, and the loads that are under way for the next one."""

    done: list[Stage] = field(default_factory=list)
    under_way: Loads = field(default_factory=dict)
    is_read: bool = True  # the last stage was; the next store begins another

    def load(self, name: str, elements: list[tuple[int, Element]]) -> None:
        self.under_way.setdefault(name, []).extend(elements)

    def store(self, rows: int) -> None:
        if self.is_read:
            self.done.append(Stage(self.under_way))
            self.under_way, self.is_read = {}, False
        self.done[-1].rows += rows


def stages(trace: Trace, tile: str, shapes: Mapping[str, tuple[int, ...]]) -> list[Stage]:
    """Cut a trace into stages: a stage begins with the first store to ``tile`` after it was read.

    >>> from convlab.spec import ConvSpec
    >>> from convlab.views.traced import trace_method
    >>> spec = ConvSpec(n=1, c=2, h=4, w=5, k=3, r=3, s=3)
    >>> run = trace_method("implicit_gemm", spec)
    >>> [(stage.rows, len(stage.loads["x"])) for stage in stages(run.trace, "Bs", {"x": spec.input_shape})]
    [(8, 48), (8, 48), (8, 12)]

    Parameters: ``shapes`` has the tensors whose loads count, which must be traced with their axes. Loads that are under
    way while a stage is computed belong to the next.
    """
    builder = _Builder()
    for access in (access for step in trace.steps for access in step.accesses):
        if access.name in shapes and access.action == "load":
            builder.load(access.name, elements(access, shapes[access.name]))
        elif access.name == tile and access.action == "store":
            builder.store(access.count)
        elif access.name == tile:
            builder.is_read = True
    return builder.done


def elements(access: TraceAccess, shape: tuple[int, ...]) -> list[tuple[int, Element]]:
    """List (lane, element) of an access to a tensor, all elements of a wide one."""
    first = np.ravel_multi_index(tuple(access.index.T), shape)
    flat = first[:, np.newaxis] + np.arange(access.count)
    places = np.stack(np.unravel_index(flat, shape), axis=-1).tolist()
    return [(lane, tuple(each)) for lane, some in zip(access.lanes, places, strict=True) for each in some]
