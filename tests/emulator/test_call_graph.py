from __future__ import annotations

import pytest

from convlab.emulator.call_graph import reached, recursive
from convlab.emulator.parse import parse
from convlab.emulator.program import Function
from convlab.errors import CompileError

from .conftest import HEAD


def program(calls: dict[str, list[str]]) -> Function:
    """A kernel ``k`` among functions that call each other; ``*`` is a call through a pointer."""
    declared = "".join(f".func {name};\n" for name in calls if name != "k")
    bodies = "".join(
        f"{'.entry' if name == 'k' else '.func'} {name} {{ .reg .b64 p; proto: .callprototype _ ();\n"
        + "".join("call p, proto;" if each == "*" else f"call {each};" for each in targets)
        + "ret; }\n"
        for name, targets in calls.items()
    )
    return parse(HEAD + declared + bodies).entries["k"]


def graph(calls: dict[str, list[str]]) -> tuple[list[str], set[tuple[str, str]]]:
    functions = reached(program(calls))
    names = {id(function): function.name for function in functions}
    return [f.name for f in functions], {(names[caller], names[target]) for caller, target in recursive(functions)}


def test_functions_come_before_those_that_call_them_and_unreached_ones_not_at_all():
    order, again = graph({"unused": [], "c": [], "b": ["c"], "a": ["c", "b"], "k": ["a", "b"]})
    assert (order, again) == (["c", "b", "a", "k"], set())


def test_a_call_that_may_come_back_to_its_caller_is_recursive_and_one_into_a_cycle_is_not():
    calls = {"leaf": [], "c": ["a"], "b": ["c", "leaf"], "a": ["b"], "self": ["self"], "k": ["a", "self"]}
    _, again = graph(calls)
    assert again == {("a", "b"), ("b", "c"), ("c", "a"), ("self", "self")}


def test_a_call_through_a_pointer_may_reach_every_function():
    order, again = graph({"a": [], "b": ["*"], "k": ["b"]})
    assert (set(order), again) == ({"a", "b", "k"}, {("b", "b")})


def test_calls_that_are_nested_too_deeply_are_refused():
    chain = {f"f{n}": [f"f{n + 1}"] for n in range(202)}
    with pytest.raises(CompileError, match="functions call each other more than 200 levels deep"):
        reached(program({"k": ["f0"], **chain, "f202": []}))
