"""The table of all methods: op by op, references before kernels, in the order of the course."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Any

from convlab.kernels import references
from convlab.kernels.method import Method, Methods
from convlab.kernels.ops import OPS
from convlab.kernels.rungs import (
    family,
    fused,
    gemm,
    implicit,
    layout,
    tensor,
    threads,
    tiles,
    transposed,
    winograd,
)

__all__ = ["method", "methods"]

_FAMILIES = (threads, tiles, gemm, implicit, tensor, layout, family, transposed, fused, winograd)
_RECORDS = (*references.METHODS, *(record for module in _FAMILIES for record in module.RUNGS))


def _for_any_spec(record: Method) -> Method:
    """The same method, which declines the specs of other ops: whoever asks all methods need not know their ops."""
    kind, own = OPS[record.op].spec, record.supports

    def supports(spec: Any) -> str | None:
        if isinstance(spec, kind):
            return own(spec)
        return f"It computes {record.op}, whose sizes are a {kind.__name__}, and this is a {type(spec).__name__}."

    return replace(record, supports=supports)


_LADDER = Methods([_for_any_spec(record) for op in OPS for record in _RECORDS if record.op == op])


def methods(op: str | None = None) -> Methods:
    """Give all methods, or those of one op: an iterable of records that a notebook shows as a table.

    >>> [m.name for m in methods("conv2d")][:1]
    ['direct']
    >>> from convlab.spec import GemmSpec
    >>> [m.name for m in methods() if m.supports(GemmSpec(5, 7, 3)) is None][:2]
    ['blas', 'cpu_gemm_loops']

    Raises ``ValueError``, with the ops that there are, for an unknown one.
    """
    if op is not None and op not in OPS:
        raise ValueError(f"There is no op {op!r}. The ops are: {', '.join(OPS)}.")
    return _LADDER if op is None else Methods([m for m in _LADDER if m.op == op])


def method(name: str) -> Method:
    """Look a method up by its name.

    >>> from convlab.spec import ConvSpec
    >>> method("naive").supports(ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3)) is None
    True

    Raises ``ValueError``, with the nearest names, when there is none.
    """
    for record in _LADDER:
        if record.name == name:
            return record
    near = difflib.get_close_matches(str(name), [m.name for m in _LADDER], n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"There is no method {name!r}.{guess} cl.methods() lists all {len(_LADDER)}.")
