from __future__ import annotations

import pytest

from convlab.emulator.parse import parse
from convlab.emulator.uses import used

from .conftest import kernel

# line of PTX → which of %r0 to %r3 it uses: of all uses, and without copies within local memory
LINES = {
    "ld.shared.v2.u32 {%r0, %r1}, [%r2];": ("2", "2"),
    "ld.shared.u32 %r0, [%r1]; add.u32 %r2, %r0, 1;": ("012", "012"),
    "ld.local.u32 %r0, [%r1]; st.local.u32 [%r2], %r0;": ("012", "12"),
    "ld.local.v2.u32 {%r0, %r1}, [8]; st.param.v2.b32 [%r2], {%r0, %r1};": ("012", "2"),
    "ld.local.u32 %r0, [%r1]; st.global.u32 [%rd0], %r0;": ("01", "01"),
    "ld.local.u32 %r0, [8]; mov.u32 %r1, %r0; st.local.u32 [8], %r1;": ("01", ""),
    "mov.u32 %r1, %r0; mov.u32 %r2, %r1; sub.u32 %r3, %r2, %r2;": ("0123", "0123"),
    "mov.b64 %rd1, {%r0, %r1}; st.local.u64 [8], %rd1;": ("01", ""),
    "mov.u32 %r1, %r0; @%p0 bra END; END:": ("", ""),
}


@pytest.mark.parametrize("line", LINES)
def test_registers_that_matter(line):
    function = parse(kernel(line)).entries["f"]
    found = [used(function), used(function, copies=False)]
    numbers = ["".join(n for n in "0123" if f"%r{n}" in names) for names in found]
    assert tuple(numbers) == LINES[line]
    assert all(("%p0" in names) == ("@%p0" in line) for names in found)


def test_a_long_chain_of_copies_is_followed_from_its_end():
    many = 30_000
    chain = " ".join(f"mov.u32 q{n + 1}, q{n};" for n in range(many))
    text = kernel(f".reg .b32 q<{many + 1}>; {chain} st.global.u32 [%rd0], q{many};")
    assert {f"q{n}" for n in range(many + 1)} <= used(parse(text).entries["f"])


@pytest.mark.parametrize("text", ["mov.u32;", "st.local.u32;", "ld.local.u32;"])
def test_an_instruction_without_operands_uses_nothing(text):
    assert used(parse(kernel(text)).entries["f"], copies=False) == set()
