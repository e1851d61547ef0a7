"""Runs Python answers in a worker: defines them, calls them, and describes what they give back."""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import convlab
from convlab.checker import guard
from convlab.checker.memory import measured
from convlab.grader import attempts, wire

__all__ = ["answers_for"]

Arrays = Sequence[npt.NDArray[Any]]
Reply = tuple[dict[str, Any], list[npt.NDArray[Any]]]

_MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)  # lines that are IPython's, and no Python
_NUMBERS = (bool, int, float, *np.sctypeDict.values())
_MOST = 32 << 20  # bytes of a result

_namespace: dict[str, Any] = {"__name__": "__main__"}


def answers_for(tell: attempts.Tell) -> Callable[[Mapping[str, Any], Arrays], Reply]:
    """What does as a request says; ``tell`` is called with what an answer does that is not allowed."""
    verbs: dict[str, Any] = {"define": partial(_define, tell), "call": _call}
    return lambda request, arrays: verbs[request["verb"]](request, arrays)


def _define(tell: attempts.Tell, request: Mapping[str, Any], arrays: Arrays) -> Reply:
    """Run what was given, what the answer uses of earlier answers, and the answer's own cell."""
    for source in request["setup"]:
        exec(compile(_without_shows(source), "set-up", "exec", dont_inherit=True), _namespace)
    vars(convlab)["check"] = lambda *_, **__: None  # who leaves a call of the check in a cell means no harm
    attempts.watch(request["allowed"], tell)
    name, source, log = request["name"], _MAGIC.sub("", request["answer"]), guard.Printed()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        for earlier in _used_of(request["earlier"], source):
            guard.call_here(_run, (earlier,))
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # so errors quote lines
        try:
            code = compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return {"ended": "raised", "sentence": f"is no valid Python: {guard.in_one_line(error)}", "error": ""}, []
        outcome = guard.call_here(exec, (code, _namespace))
    described = _described(_namespace[request["function"]]) if request["function"] in _namespace else {}
    return {"ended": outcome.ended, "sentence": outcome.sentence, "error": outcome.error, "answer": described}, []


def _run(source: str) -> None:
    exec(compile(_MAGIC.sub("", source), "an earlier answer", "exec", dont_inherit=True), _namespace)


def _without_shows(source: str) -> ast.Module:
    """A cell that was there before, without what it only shows: a picture, or a call of the check."""
    tree = ast.parse(_MAGIC.sub("", source))
    tree.body = [statement for statement in tree.body if not isinstance(statement, ast.Expr)]
    return tree


def _used_of(earlier: Sequence[str], source: str) -> list[str]:
    """Those of the earlier answers that define a name which this one, or another that it uses, mentions."""
    wanted, _ = _names(source)
    named = {text: _names(text) for text in earlier}
    used: set[str] = set()
    while more := {text for text, (_, defined) in named.items() if text not in used and defined & wanted}:
        used |= more
        wanted |= {name for text in more for name in named[text][0]}
    return [text for text in earlier if text in used]


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell mentions, and those that it defines; none, if it is no Python."""
    try:
        tree = ast.parse(_MAGIC.sub("", source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), set()
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    kinds = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
    return {node.id for node in names}, stored | {node.name for node in tree.body if isinstance(node, kinds)}


def _described(answer: Any) -> dict[str, Any]:
    """What a thing is, so far as the grader needs it to say whether it can be an answer at all."""
    about: dict[str, Any] = {"type": type(answer).__name__, "callable": callable(answer)}
    if type(answer) is dict:
        about["values"] = {str(name)[:100]: _value(value) for name, value in list(answer.items())[:100]}
    try:
        parameters = inspect.signature(answer).parameters.values() if callable(answer) else ()
        about["parameters"] = [[each.name, int(each.kind), each.default is not each.empty] for each in parameters]
    except Exception:  # many callables have no signature, and a learner's class may break its own
        about["parameters"] = None
    return about


def _value(value: Any) -> dict[str, Any]:
    """A number, a word or nothing, under the name of its type."""
    kind = type(value).__name__
    if type(value) in _NUMBERS and np.asarray(value).dtype.kind in "iuf":
        return {"type": kind, "number": float(value) if abs(value) < 1e300 else float("inf")}
    return {"type": kind, "word": value[:1000]} if type(value) is str else {"type": kind}


def _call(request: Mapping[str, Any], arrays: Arrays) -> Reply:
    """Call the answer with a case's arguments, which are numbers, words, tuples, or arrays by their places."""
    arguments = wire.unpack(request["arguments"], arrays)
    before = [array.copy() for array in arrays]
    function, peak = _namespace[request["function"]], 0
    log = guard.Printed()
    with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
        outcome = guard.call_here(measured(function) if request["memory"] else function, arguments)
    value = outcome.value
    if request["memory"] and outcome.ended == "returned":
        value, peak = value
    changed = [i for i, old in enumerate(before) if not np.array_equal(arrays[i], old)]
    about, results = _result(value)
    reply = {"ended": outcome.ended, "sentence": outcome.sentence, "error": outcome.error, "changed": changed[:1]}
    return {**reply, "memory": peak, "printed": log.text, "omitted": log.omitted, "result": about}, results


def _result(value: Any) -> tuple[dict[str, Any], list[npt.NDArray[Any]]]:
    """What was returned: its type, and where it is numbers, these as an array of NumPy's own."""
    about: dict[str, Any] = {"type": type(value).__name__}
    if value is None or not (type(value) in _NUMBERS or isinstance(value, np.ndarray)):
        return about, []
    array = np.asarray(value)
    about |= {"dtype": array.dtype.name, "shape": list(array.shape), "array": isinstance(value, np.ndarray)}
    small = array.dtype.kind in "biuf" and array.nbytes <= _MOST
    return about, [array] if small else []
