"""What ``method="auto"`` picks: rules in order, the first that holds and is supported decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from convlab.kernels.ladder import methods
from convlab.kernels.method import Method

__all__ = ["RULES", "Rule", "choose"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Where ``holds`` is true of a spec, ``method`` is a good choice, and ``why`` says the reason."""

    op: str
    method: str
    why: str
    holds: Callable[[Any], bool]


RULES: tuple[Rule, ...] = (Rule("conv2d", "naive", "it computes everything", lambda spec: True),)


def choose(op: str, spec: Any, dtype: str) -> Method:
    """The method that the rules pick for a spec and a type of the inputs.

    >>> from convlab.spec import ConvSpec
    >>> choose("conv2d", ConvSpec(n=1, c=3, h=8, w=6, k=4, r=3, s=3), "float64").name
    'direct'

    Raises ``ValueError`` where no method of the op computes in this type.
    """
    records = {record.name: record for record in methods(op)}
    for rule in RULES:
        record = records.get(rule.method)
        fits = rule.op == op and record is not None and record.dtype == dtype and rule.holds(spec)
        if fits and record is not None and record.supports(spec) is None:
            return record
    for record in records.values():  # a reference takes what no kernel does
        if record.dtype in ("any", dtype) and record.supports(spec) is None:
            return record
    raise ValueError(f"No method computes {op} in {dtype} for these sizes.\n  In: {spec!r}\n  Fix: convert to float32.")
