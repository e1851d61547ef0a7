"""Loads from shared memory that only some threads use get the predicate of those."""

from __future__ import annotations

import pytest

from convlab.emulator import parse

from .conftest import kernel

HEAD = "setp.eq.u32 %p1, %r0, 0; "
LOAD = "ld.shared.u32 %r1, [%r0]; "


def guard(body: str) -> str:
    """The predicate of the only load from shared memory."""
    entry = parse(kernel(body)).entries["f"]
    (load,) = (i for i in entry.instructions if i.parts[:2] == ("ld", "shared"))
    return "" if load.guard is None else f"{'!' * load.guard.negated}{load.guard.name}"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("selp.b32 %r2, %r1, 0, %p1;", "%p1"),
        ("selp.b32 %r2, 0, %r1, %p1;", "!%p1"),
        ("selp.b32 %r2, 0, %r1, !%p1;", "%p1"),
        ("selp.b32 %r2, %r1, 0, %p1; selp.b32 %r3, %r1, 7, %p1;", "%p1"),
        ("bra next; next: selp.b32 %r2, %r1, 0, %p1;", "%p1"),
        ("@%p2 bra next; mov.u32 %r1, 5; next: selp.b32 %r2, %r1, 0, %p1; add.u32 %r3, %r2, 1;", "%p1"),
        ("ret;", ""),
        ("add.u32 %r2, %r1, 1;", ""),
        ("selp.b32 %r2, %r1, %r1, %p1;", ""),
        ("selp.b32 %r2, %r1, 0, %p1; selp.b32 %r3, %r1, 7, %p2;", ""),
        ("selp.b32 %r2, %r1, 0, %p1; st.shared.u32 [%r1], %r2;", ""),
        ("selp.b32 %r2, %r1, 0, %p1; @%p2 bra next; ret; next: add.u32 %r3, %r1, 1;", ""),
        ("setp.ne.u32 %p1, %r0, 3; selp.b32 %r2, %r1, 0, %p1;", ""),
        ("again: selp.b32 %r2, %r1, 0, %p1; setp.ne.u32 %p1, %r0, 3; @%p2 bra again;", ""),
        ("@%p2 mov.u32 %r1, 5; add.u32 %r3, %r1, 1;", ""),
    ],
)
def test_a_load_gets_the_predicate_of_all_that_use_it(body, expected):
    assert guard(HEAD + LOAD + body) == expected


def test_a_load_from_global_memory_stays_as_it_is():
    entry = parse(kernel(HEAD + "ld.global.u32 %r1, [%rd0]; selp.b32 %r2, %r1, 0, %p1;")).entries["f"]
    assert all(i.guard is None for i in entry.instructions)
