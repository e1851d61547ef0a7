"""The table of all methods: what each computes, how it is launched, and for which sizes it works."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.reference.direct import direct
from convlab.spec import ConvSpec

__all__ = ["AXES", "CONV_DTYPE", "Launch", "Method", "Methods", "Plan", "method", "methods"]

FOLDER = Path(__file__).parent
AXES = {"x": "nchw", "w": "kcrs", "bias": "k", "y": "nkpq"}
Array = npt.NDArray[Any]

# struct Conv of common.cuh, field by field.
_FIELDS = "N C H W K R S P Q stride_h stride_w pad_top pad_left dilation_h dilation_w groups"
CONV_DTYPE = np.dtype([(name, np.int32) for name in _FIELDS.split()])

LARGEST_INT = 2**31 - 1
LARGEST_GRID_YZ = 65535


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch; a string among the arguments names a tensor of the plan."""

    source: str  # a file beside this one
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    shared: int = 0

    def text(self) -> str:
        """The CUDA C of the launch's file."""
        return (FOLDER / self.source).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Plan:
    """The launches of one method for one spec, and the scratch arrays between them: name → (shape, dtype)."""

    launches: tuple[Launch, ...]
    scratch: Mapping[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Method:
    """One way to compute: a reference function that runs on the CPU, or a plan of kernel launches.

    ``supports(spec)`` is ``None``, or the reason why not, as a sentence.
    """

    name: str
    op: str
    idea: str
    dtype: str
    layout: str
    lesson: str
    supports: Callable[[ConvSpec], str | None]
    reference: Callable[[Array, Array, Array | None, ConvSpec], Array] | None = None
    plan: Callable[[ConvSpec], Plan] | None = None


class Methods(Sequence[Method]):
    """All methods in the order of the course; a notebook shows them as a table."""

    COLUMNS = ("name", "op", "idea", "dtype", "layout", "lesson")

    def __init__(self, records: Sequence[Method]) -> None:
        self._records = tuple(records)

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._records)

    def __repr__(self) -> str:
        return "\n".join(f"{m.name:12} {m.op:10} {m.dtype:9} {m.layout:5} {m.idea}" for m in self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{name}</th>" for name in self.COLUMNS)
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(getattr(m, name))}</td>" for name in self.COLUMNS)
            + "</tr>"
            for m in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def conv_struct(spec: ConvSpec) -> Any:
    """A spec as the ``Conv`` of common.cuh: a NumPy structured scalar of 64 bytes.

    >>> conv_struct(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3, padding=1))["Q"]
    np.int32(6)
    """
    top, _, left, _ = spec.padding
    sizes = (spec.n, spec.c, spec.h, spec.w, spec.k, spec.r, spec.s, spec.p, spec.q)
    return np.array((*sizes, *spec.stride, top, left, *spec.dilation, spec.groups), CONV_DTYPE)[()]


def _naive_supports(spec: ConvSpec) -> str | None:
    """Its grid has a filter along y and an image along z, and it numbers pixels and planes with 32 bits."""
    for letter, size, what in (("K", spec.k, "filters"), ("N", spec.n, "images")):
        if size > LARGEST_GRID_YZ:
            return f"{letter}={size} {what} are more than the {LARGEST_GRID_YZ} blocks that a grid can have there."
    padded_h = spec.h + spec.padding[0] + spec.padding[1]
    padded_w = spec.w + spec.padding[2] + spec.padding[3]
    for what, size in (
        ("output pixels of a plane", spec.p * spec.q),
        ("input planes", spec.n * spec.c),
        ("output planes", spec.n * spec.k),
        ("filter planes", spec.k * (spec.c // spec.groups)),
        ("padded rows", padded_h),
        ("padded columns", padded_w),
    ):
        if size + 256 > LARGEST_INT:
            return f"{size} {what} are too many for the 32-bit int that numbers them."
    return None


def _naive_plan(spec: ConvSpec) -> Plan:
    grid = (-(-spec.p * spec.q // 256), spec.k, spec.n)
    arguments = ("x", "w", "bias", "y", conv_struct(spec))
    return Plan((Launch("naive.cu", "conv_naive", grid, (256, 1, 1), arguments),))


_LADDER = Methods(
    [
        Method(
            name="direct",
            op="conv2d",
            idea="the definition in NumPy, summed in float64: the oracle",
            dtype="any",
            layout="nchw",
            lesson="01",
            supports=lambda spec: None,
            reference=direct,
        ),
        Method(
            name="naive",
            op="conv2d",
            idea="one thread, one output; three loops",
            dtype="float32",
            layout="nchw",
            lesson="01",
            supports=_naive_supports,
            plan=_naive_plan,
        ),
    ]
)


def methods() -> Methods:
    """Give all methods: an iterable of records that a notebook shows as a table.

    >>> [m.name for m in methods()]
    ['direct', 'naive']
    """
    return _LADDER


def method(name: str) -> Method:
    """Look a method up by its name.

    >>> method("naive").supports(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3)) is None
    True

    Raises ``ValueError``, with the nearest names, when there is none.
    """
    for record in _LADDER:
        if record.name == name:
            return record
    near = difflib.get_close_matches(str(name), [m.name for m in _LADDER], n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"There is no method {name!r}.{guess} The methods are: {', '.join(m.name for m in _LADDER)}.")
