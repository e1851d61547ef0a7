from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.calls import callee, signature_of
from convlab.emulator.parse import parse
from convlab.errors import CompileError, UnsupportedInstruction

from .conftest import HEAD, kernel, launch

STORE = "mul.wide.u32 %rd10, %r0, 4; add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], {value};"

# twice(x) = 2x with .param variables, as compilers write it; and with registers, as people do
TWICE = """.func (.param .b32 r) twice(.param .b32 x) {
    .reg .b32 %t<2>; ld.param.b32 %t0, [x]; add.u32 %t1, %t0, %t0; st.param.b32 [r], %t1; ret; }
"""
THRICE = """.func (.reg .u32 r) thrice(.reg .u32 x) {
    .reg .pred q; mul.lo.u32 r, x, 3; setp.lt.u32 q, x, 2; @q ret; add.u32 r, r, 0; ret; }
"""
CALL = """{{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], {x};
    call.uni (r0), {name}, (a0); ld.param.b32 {to}, [r0]; }}"""


def run(body: str, functions: str = "", threads: int = 6) -> list[int]:
    """What a kernel's threads leave in out[tid]."""
    out = np.full(threads, -1, "i4")
    result = launch(kernel(body, head=HEAD + functions), out)
    assert not result.faults, [str(fault) for fault in result.faults]
    return out.tolist()


def test_a_call_through_param_variables():
    call = CALL.format(x="%r0", name="twice", to="%r2")
    assert run(f"{call} {STORE.format(value='%r2')}", TWICE) == [0, 2, 4, 6, 8, 10]


@pytest.mark.parametrize("name", ["twice", "thrice"])
def test_a_call_with_registers(name):
    factor = {"twice": 2, "thrice": 3}[name]
    text = f"call.uni (%r2), {name}, (%r0); {STORE.format(value='%r2')}"
    assert run(text, TWICE + THRICE) == [factor * t for t in range(6)]


def test_a_call_with_a_literal_and_of_a_function_that_takes_nothing():
    head = TWICE + ".func (.reg .u32 r) nine() { mov.u32 r, 9; ret; }\n.func idle() { ret; }\n"
    text = f"call (%r2), twice, (21); call (%r3), nine; call idle; add.u32 %r2, %r2, %r3; {STORE.format(value='%r2')}"
    assert run(text, head, 2) == [51, 51]


def test_a_guarded_call_is_for_some_lanes_only():
    text = f"mov.u32 %r2, 7; setp.gt.u32 %p1, %r0, 2; @%p1 call (%r2), twice, (%r0); {STORE.format(value='%r2')}"
    assert run(text, TWICE) == [7, 7, 7, 6, 8, 10]


def test_lanes_that_call_from_two_places_come_back_to_their_own():
    text = f"""
        and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;
        call (%r2), twice, (%r0); add.u32 %r2, %r2, 100; bra END;
        EVEN: call (%r2), twice, (%r0); add.u32 %r2, %r2, 200;
        END: {STORE.format(value="%r2")}"""
    assert run(text, TWICE) == [2 * t + (100 if t % 2 else 200) for t in range(6)]


def test_a_struct_is_passed_and_returned_by_its_bytes():
    swap = """.func (.param .align 8 .b8 r[16]) swap(.param .align 8 .b8 x[16]) {
        .reg .b64 %a<2>; ld.param.v2.b64 {%a0, %a1}, [x]; st.param.b64 [r], %a1; st.param.b64 [r+8], %a0; ret; }
    """
    text = f"""
        .param .align 8 .b8 a[16]; .param .align 8 .b8 b[16];
        cvt.u64.u32 %rd1, %r0; st.param.b64 [a], %rd1; st.param.b64 [a+8], 30;
        call (b), swap, (a); ld.param.b32 %r2, [b]; ld.param.b32 %r3, [b+8];
        mad.lo.u32 %r2, %r3, 1000, %r2; {STORE.format(value="%r2")}"""
    assert run(text, swap, 3) == [30, 1030, 2030]


def test_the_address_of_a_local_array_is_good_inside_of_a_function():
    put = """.func put(.param .b64 p, .param .b32 x) {
        .reg .b64 %a; .reg .b32 %t<2>; .local .align 4 .b8 own[8]; mov.u32 %t1, 77; st.local.u32 [own], %t1;
        ld.param.b64 %a, [p]; ld.param.b32 %t0, [x]; st.u32 [%a+4], %t0; ret; }
    """
    text = f"""
        .local .align 4 .b8 mine[12]; .reg .b64 here;
        st.local.u32 [mine], 1; st.local.u32 [mine+8], 2; mov.u64 here, mine; cvta.local.u64 here, here;
        call put, (here, %r0); ld.local.u32 %r1, [mine]; ld.local.u32 %r2, [mine+4]; ld.local.u32 %r3, [mine+8];
        mad.lo.u32 %r2, %r2, 100, %r1; mad.lo.u32 %r2, %r3, 10000, %r2; {STORE.format(value="%r2")}"""
    assert run(text, put, 4) == [20001 + 100 * t for t in range(4)]


POINTERS = TWICE + THRICE + ".global .align 8 .u64 table[2] = {twice, thrice};\n"
INDIRECT = f"""
    and.b32 %r1, %r0, 1; mul.wide.u32 %rd1, %r1, 8; mov.u64 %rd2, table; add.s64 %rd2, %rd2, %rd1;
    ld.global.u64 %rd3, [%rd2];
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (%r2), %rd3, (%r0), P; {STORE.format(value="%r2")}"""


def test_function_pointers_part_the_lanes_and_bring_them_together():
    assert run(INDIRECT, POINTERS) == [0, 3, 4, 9, 8, 15]


def test_a_pointer_to_a_function_in_a_register():
    text = f"""
        setp.lt.u32 %p1, %r0, 3; mov.u64 %rd2, twice; mov.u64 %rd3, thrice; selp.b64 %rd4, %rd2, %rd3, %p1;
        P: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (%r2), %rd4, (%r0), P; {STORE.format(value="%r2")}"""
    assert run(text, POINTERS) == [0, 2, 4, 9, 12, 15]


def test_a_pointer_to_no_function_is_a_fault():
    text = INDIRECT.replace("ld.global.u64 %rd3, [%rd2];", ".loc 1 4 1\nmov.u64 %rd3, 12345;")
    result = launch(kernel(text, head=HEAD + POINTERS) + '.file 1 "p.cu"\n', np.zeros(3, "i4"))
    (fault,) = result.faults
    assert (fault.kind, fault.line, fault.severity) == ("out_of_bounds", 4, "error")
    assert "calls a function through a pointer that is none." in fault.message


@pytest.mark.parametrize(
    "call", ["call (%r2), twice, (%r0, %r1);", "call twice, (%r0);", "call (%r2, %r3), twice, (%r0);"]
)
def test_a_call_with_another_number_of_values_is_refused(call):
    with pytest.raises(CompileError, match="a call passes another number of values than its function takes"):
        run(call, TWICE)


def test_a_function_that_nobody_wrote_is_named():
    head = ".extern .func (.param .b32 r) cudaMalloc (.param .b64 p) ;\n"
    with pytest.raises(
        UnsupportedInstruction, match=r"`call`? \(the function cudaMalloc, which is not part of the source\)"
    ):
        run("call (%r2), cudaMalloc, (%rd0);", head)
    with pytest.raises(UnsupportedInstruction, match="the function nobody"):
        run("call nobody;")


def test_whom_a_call_names_and_what_it_takes():
    function = parse(
        kernel(
            "call (%r2), twice, (%r0); P: .callprototype _ (.param .b64 _); call %rd3, (%rd0), P;", head=HEAD + TWICE
        )
    ).entries["f"]
    direct, indirect = (i for i in function.instructions if i.parts[0] == "call")
    assert callee(direct)[0].name == "twice"
    assert signature_of(function, direct).returns[0].name == "r"
    assert (callee(indirect)[0].name, callee(indirect)[1].name) == ("%rd3", "P")
    assert [p.type for p in signature_of(function, indirect).params] == ["b64"]
