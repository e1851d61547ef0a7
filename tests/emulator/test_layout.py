from __future__ import annotations

import pytest

from convlab.emulator.addresses import LOCAL_WINDOW, SHARED_WINDOW, buffer_address, function_address
from convlab.emulator.layout import lay_out, packed, passed, share
from convlab.emulator.parse import parse
from convlab.emulator.program import Param
from convlab.errors import CompileError

from .conftest import HEAD

TEXT = (
    HEAD
    + """.global .u32 first; .const .u64 second[3]; .shared .align 8 .b8 common[5];
    .shared .align 4 .b8 others[40]; .extern .shared .align 16 .b8 dynamic[];
    .func (.param .b64 r) g(.param .b32 a, .param .align 8 .b8 s[24]) { .local .align 16 .b8 own[3]; ret; }
    .func h() { .shared .align 16 .b8 hers[4]; ret; }
    .visible .entry f(.param .u8 c, .param .u64 p) {
        .local .align 4 .b8 x[6]; .local .align 8 .b8 y[8]; .shared .align 4 .b8 mine[12];
        .param .b64 back; .param .b32 a; .param .align 8 .b8 s[24]; .param .b32 idle;
        .reg .b64 %rd<2>; mov.u64 %rd0, common; mov.u64 %rd1, dynamic;
        call (back), g, (a, s); call h; ret; }
"""
)


@pytest.fixture
def program():
    return parse(TEXT)


def test_parameters_lie_one_after_the_other_at_their_alignment():
    params = [Param("a", "b8", 1, 1), Param("b", "b64", 8, 8), Param("c", "b16", 2, 2), Param("d", "b8", 5, 16)]
    places, end = packed(params)
    assert [at for _, at in places] == [0, 8, 16, 32]
    assert end == 37
    assert packed(params[:1], at=3)[1] == 4


def test_shared_variables_of_all_functions_and_dynamic_ones_at_the_end(program):
    functions = [program.functions["h"], program.functions["g"], program.entries["f"]]
    shared = share(program, functions)
    assert [(at, v.name) for at, v in shared.variables] == [(0, "common"), (16, "hers"), (20, "mine"), (32, "dynamic")]
    assert shared.size == 32
    assert [v.name for _, v in share(program, functions[1:]).variables] == ["common", "mine", "dynamic"]
    assert not share(program, functions[1:2]).variables  # what only other kernels use takes no room


def test_the_names_of_a_kernel(program):
    kernel = program.entries["f"]
    shared = share(program, [kernel])
    layout = lay_out(kernel, shared, kernel=True, pointer=9)
    places = layout.addresses
    assert (places["first"], places["second"]) == (buffer_address(0), buffer_address(1))
    assert (places["g"], places["h"]) == (function_address(0), function_address(1))
    assert {name: at for name, (_, at) in layout.params.items()} == {"c": 0, "p": 8}
    assert places["p"] == buffer_address(2) + 8
    assert (places["x"], places["y"], layout.frame) == (0, 8, 16)
    assert (layout.windows["x"], layout.windows["mine"]) == (LOCAL_WINDOW, SHARED_WINDOW)
    # behind the frame, where g looks for it: its result, then its parameters
    assert [places[name] - layout.frame for name in ("back", "a", "s")] == [0, 8, 16]
    assert places["idle"] >= layout.frame + 40
    assert layout.extent >= places["idle"] + 4


def test_the_names_of_a_function_are_counted_from_its_frame(program):
    function = program.functions["g"]
    layout = lay_out(function, share(program, [function]), kernel=False, pointer=9)
    assert {name: layout.addresses[name] for name in ("r", "a", "s", "own")} == {"r": 0, "a": 8, "s": 16, "own": 48}
    assert layout.framed == {"r", "a", "s", "own"}
    assert (layout.frame, layout.extent) == (64, 51)
    assert not layout.params


def test_what_a_call_passes_lies_where_the_function_looks_for_it(program):
    kernel, function = program.entries["f"], program.functions["g"]
    call = next(i for i in kernel.instructions if i.parts[0] == "call")
    found = {operand.name: place.at for operand, place in passed(kernel, call)}
    inside = lay_out(function, share(program, [function]), kernel=False, pointer=9).addresses
    assert found == {"back": inside["r"], "a": inside["a"], "s": inside["s"]}


def test_a_function_that_is_declared_only_later_is_refused():
    text = f"{HEAD}.entry f() {{ .reg .b32 %r<2>; call (%r0), g, (%r1); ret; }}\n"
    text += ".func (.reg .b32 r) g(.reg .b32 x) { ret; }\n"
    program = parse(text)
    with pytest.raises(CompileError, match="a function is called before the PTX declares it"):
        lay_out(program.entries["f"], share(program, []), kernel=True, pointer=0)
