"""A planted bug as a record, and the random data of its kernel."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "kernels"


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel, ``kernels/NAME.cu``: with ``-DBUG`` it has the bug that its comments mark, without it is right.

    ``arguments`` makes the kernel's arguments, the output first; ``expected`` says from them what the output must be.
    """

    name: str
    grid: Any
    block: Any
    arguments: Callable[[np.random.Generator], list[Any]]
    expected: Callable[..., Any]
    severity: str = "error"
    space: str | None = None
    shared: int = 0
    budget: int | None = None

    @property
    def source(self) -> str:
        return (FOLDER / f"{self.name}.cu").read_text(encoding="utf-8")

    def marked(self, mark: str) -> list[tuple[int, str]]:
        """The lines that carry ``// MARK``, and what stands behind it."""
        lines = enumerate(self.source.splitlines(), start=1)
        return [(number, found[1]) for number, text in lines if (found := re.search(rf"// {mark}\b:? *(\w*)", text))]

    @property
    def bugs(self) -> set[tuple[str, int]]:
        """Kind and line of what must be reported; an element that is never written has no line."""
        return {(kind, 0 if kind == "unwritten" else line) for line, kind in self.marked("BUG")}

    @property
    def callers(self) -> tuple[int, ...]:
        """The lines of the inlined calls that lead to the bug, the innermost first."""
        return tuple(line for line, _ in sorted(self.marked("CALLER"), key=lambda each: each[1]))


def floats(rng: np.random.Generator, *shape: int) -> Any:
    """Numbers from 0.1 to 1 and their negatives: no zeros, no two alike."""
    return (rng.uniform(0.1, 1.0, shape) * rng.choice([-1, 1], shape)).astype("f4")


def ints(rng: np.random.Generator, size: int, low: int = 0, high: int = 100) -> Any:
    return rng.integers(low, high, size).astype("i4")


def zeros(*shape: int, dtype: str = "f4") -> Any:
    return np.zeros(shape, dtype)


def correlate(x: Any, w: Any, outputs: int) -> Any:
    return np.array([np.dot(x[q : q + w.size].astype("f8"), w) for q in range(outputs)])


def shifted(x: Any, by: int) -> Any:
    """Element i of the result is x[i + by], or zero where there is none."""
    padded = np.pad(x, abs(by))
    return padded[abs(by) + by :][: x.size]


def by_block(x: Any, size: int, apply: Callable[[Any], Any]) -> Any:
    return np.concatenate([np.atleast_1d(apply(part)) for part in x.reshape(-1, size)])


def counts(x: Any, bins: int) -> Any:
    return np.bincount(x, minlength=bins)
