"""Compiles and launches CUDA C answers in a worker.

No Python of a student's ever runs in this process: an answer is text for NVRTC, which has a process of its own, and of
the PTX that comes back no word enters the Python that the emulator makes. So the counters and faults that this process
reports are the emulator's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from convlab.errors import ConvlabError
from convlab.grader import numba_caches, wire

numba_caches.read_only()  # before the imports of what Numba compiles

from convlab.checker.launched import Launch, launched  # noqa: E402
from convlab.executors.compile import compile, why_not  # noqa: E402
from convlab.executors.module import Module  # noqa: E402

__all__ = ["answers_for"]

Arrays = Sequence[npt.NDArray[Any]]
Reply = tuple[dict[str, Any], list[npt.NDArray[Any]]]

_modules: list[Module] = []


def answers_for(_: object) -> Callable[[Mapping[str, Any], Arrays], Reply]:
    """What does as a request says: compile an answer, or launch it."""

    def answers(request: Mapping[str, Any], arrays: Arrays) -> Reply:
        try:
            return _VERBS[request["verb"]](request, arrays)
        except MemoryError:
            return {"ended": "raised", "sentence": "needs too much memory", "error": "MemoryError"}, []

    return answers


def _define(request: Mapping[str, Any], arrays: Arrays) -> Reply:
    """Compile; gives the kernels' names."""
    if reason := why_not():
        return {"ended": "broken", "sentence": reason}, []
    try:
        module = compile(request["answer"], name=request["name"])
        kernels = list(module.kernels)[:100]
    except ConvlabError as error:
        return {"ended": "raised", "sentence": str(error)[:4000], "error": type(error).__name__}, []
    _modules[:] = [module]
    return {"ended": "returned", "kernels": kernels}, []


def _launch(request: Mapping[str, Any], arrays: Arrays) -> Reply:
    """Launch with a case's arguments."""
    values = wire.unpack(request["arguments"], arrays)
    given: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in request["launch"].items()}
    what = Launch(**given, arguments=dict(zip(request["names"], values, strict=True)))
    came = launched(_modules[0], what)
    faults = [[each.kind, each.severity, each.line, each.message[:2000]] for each in came.faults[:20]]
    reply = {"ended": "returned", "refused": came.refused[:2000], "faults": faults, "used": dict(came.used)}
    results = [came.output] if came.blocks is None else [came.output, came.blocks]
    return {**reply, "printed": came.printed[:4000]}, results


_VERBS = {"define": _define, "call": _launch}
