"""What a peer is: another library that does the same work, found at run time and never needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy.typing as npt

from convlab.perf.stopwatch import Stopwatch
from convlab.perf.trial import op_of

__all__ = ["Peer", "Prepared", "missing"]

Array = npt.NDArray[Any]


def _no_kernel() -> str:
    return ""


def _nothing() -> None:
    """What frees nothing."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A peer's work on one spec, with its data in place: a call does it once, and gives the output in the op's layout.

    ``work(i)`` does it, or queues it on a GPU, on the i-th of ``sets`` sets of buffers; ``output()`` is what it made of
    the first; ``watch`` times what is queued, and is ``None`` on a CPU; ``kernel()`` names the kernel that the library
    chose, where that can be read, and ``unread`` is what to say where it cannot; ``on`` is the GPU or the processor.
    """

    work: Callable[[int], None]
    output: Callable[[], Array]
    inputs: dict[str, Array | None]
    on: str
    sets: int = 1
    watch: Stopwatch | None = None
    during: Callable[[], str] = str
    kernel: Callable[[], str] = _no_kernel
    unread: str = ""

    def __call__(self) -> Array:
        """Do the work once, and give its output."""
        self.work(0)
        return self.output()


@dataclass(frozen=True, slots=True)
class Peer:
    """Another way to do an op, which people use.

    ``available()`` is empty where it can be used here, or else the reason why not, as a sentence; ``prepare(spec,
    dtype)`` puts random data in place, and gives what does the work. ``dtypes`` are those of the inputs, ``products``
    is the type that inputs are rounded to before they are multiplied, where that is none that an array can have.
    """

    name: str
    what: str
    device: str  # "cuda" or "cpu"
    ops: tuple[str, ...]
    dtypes: tuple[str, ...]
    available: Callable[[], str]
    prepare: Callable[[Any, str], Prepared]
    uneven: bool = True  # whether it pads two sides by different widths
    free: Callable[[], None] = _nothing  # gives memory that it keeps for later back to the GPU
    products: str = ""

    def supports(self, spec: Any, dtype: str = "float32") -> str | None:
        """``None`` where it does this, or the reason why not, as a sentence."""
        op = op_of(spec)
        if op not in self.ops:
            return f"{self.name} computes {' and '.join(self.ops)}, not {op}."
        if dtype not in self.dtypes:
            return f"{self.name} takes {', '.join(self.dtypes)}, not {dtype}."
        if op == "conv2d" and not self.uneven and (spec.padding[0], spec.padding[2]) != spec.padding[1::2]:
            return f"{self.name} pads two sides alike, and the padding is {spec.padding}."
        return None


def missing(*packages: str) -> str:
    """The sentence for the first of the packages that is not installed; empty where all are.

    >>> missing("numpy")
    ''
    """
    for package in packages:
        if find_spec(package) is None:
            return f"The package {package} is not installed."
    return ""
