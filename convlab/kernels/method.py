"""What a method is: a record with its claims, its limits, and a plan of launches or a function for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import ml_dtypes  # noqa: F401 - makes "bfloat16" a name of NumPy's
import numpy.typing as npt

__all__ = ["FOLDER", "Claim", "Launch", "Matmul", "Method", "Methods", "Plan"]

FOLDER = Path(__file__).parent
Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Launch:
    """One kernel launch; a string among the arguments names a tensor of the plan, or a scratch array.

    ``constants`` fills ``__constant__`` variables before the launch: variable → (tensor, first element, one past the
    last).
    """

    source: str  # a file beside this one
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    shared: int = 0
    options: tuple[str, ...] = ()
    constants: Mapping[str, tuple[str, int, int]] = field(default_factory=dict)

    def text(self) -> str:
        """The CUDA C of the launch's file."""
        return (FOLDER / self.source).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Matmul:
    """A step that cuBLAS does: out = a · b, each a tensor by name and the shape to see it in, broadcast as in NumPy."""

    a: tuple[str, tuple[int, ...]]
    b: tuple[str, tuple[int, ...]]
    out: tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of one method for one spec, and the scratch arrays between them: name → (shape, dtype)."""

    steps: tuple[Launch | Matmul, ...]
    scratch: Mapping[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The steps that launch kernels of ours."""
        return tuple(step for step in self.steps if isinstance(step, Launch))


@dataclass(frozen=True, slots=True)
class Claim:
    """What a rung was made for: at least ``factor`` times less of a measure than another rung.

    The measures are those of `convlab.perf.measures`, the layer one of `convlab.kernels.layers`; the header of the
    rung's file makes the same prediction in words.
    """

    measure: str
    than: str
    factor: float
    layer: str = "standard"


@dataclass(frozen=True, slots=True, repr=False)
class Method:
    """One way to compute an op: a reference function that runs on the CPU, or a plan of kernel launches.

    >>> from convlab.kernels.ladder import method
    >>> method("tiled")
    method tiled of conv2d: a block's outputs share their pixels in shared memory
      float32, nchw; a tile of one channel, with its halo and a filter, in 48 KB; lesson 05

    ``supports(spec)`` is ``None``, or the reason why not, as a sentence; ``limits`` says the same of all specs, but for
    what a grid has no blocks for or an int no number: some 65 thousand images or filters, two billion pixels.
    ``dtype`` is that of the inputs, ``result`` that of the output and the bias; ``since`` is the compute capability of
    the first GPUs that have its instructions, ten times; ``products`` is the type that it rounds its inputs to before
    it multiplies them, where that is none that an array can have. A method whose ``layout`` is not the op's own is
    given its tensors in that layout, converted where the caller's differ.
    """

    name: str
    op: str
    idea: str
    dtype: str
    layout: str
    lesson: str
    supports: Callable[[Any], str | None]
    limits: str = "any size that a grid can hold"
    result: str = ""
    reference: Callable[..., Array] | None = None
    plan: Callable[[Any], Plan] | None = None
    claims: tuple[Claim, ...] = ()
    since: int = 75
    products: str = ""

    @property
    def runs_on(self) -> str:
        """What executes it: references run on the CPU, kernels on a GPU or in the emulator."""
        return "CPU" if self.plan is None else "GPU"

    @property
    def output_dtype(self) -> str:
        """The type of the output and the bias."""
        return self.result or self.dtype

    def __repr__(self) -> str:
        dtypes = " → ".join(dict.fromkeys((self.dtype, self.output_dtype)))
        facts = f"{dtypes}, {self.layout}; {self.limits}; lesson {self.lesson}"
        return f"method {self.name} of {self.op}: {self.idea}\n  {facts}"


class Methods(Sequence[Method]):
    """Methods in the order of the course; a notebook shows them as a table."""

    COLUMNS = ("name", "op", "runs_on", "idea", "dtype", "layout", "limits", "lesson")

    def __init__(self, records: Sequence[Method]) -> None:
        self._records = tuple(records)

    def __getitem__(self, index: Any) -> Any:
        return Methods(self._records[index]) if isinstance(index, slice) else self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._records)

    def __repr__(self) -> str:
        widths = {
            name: max((len(getattr(m, name)) for m in self), default=0) for name in ("name", "op", "dtype", "layout")
        }
        return "\n".join(
            " ".join(f"{getattr(m, name):{width}}" for name, width in widths.items()) + f" {m.idea}" for m in self
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th style='text-align:left'>{name.replace('_', ' ')}</th>" for name in self.COLUMNS)
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(getattr(m, name))}</td>" for name in self.COLUMNS)
            + "</tr>"
            for m in self
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
