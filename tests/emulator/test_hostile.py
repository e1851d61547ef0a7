"""Texts and launches that mean harm: each ends in an error of ours or runs, and reaches neither Python nor the host."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convlab.emulator.translate as translation
from convlab.errors import ArgumentError, CompileError, ConvlabError, KernelFault, LaunchError
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.module import UnknownKernelError, load_ptx

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def kernel(body: str, head: str = "") -> str:
    return (
        f"{HEAD}{head}.visible .entry f(.param .u64 p) {{\n.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;"
        f"\nld.param.u64 %rd0, [p];\n{body}\nret;\n}}\n"
    )


def run(text: str, threads: Any = 32, grid: Any = 1, budget: int = 20_000, **options: Any) -> Any:
    options = {"device": "emulator", "faults": "record", "budget": budget} | options
    return launch(load_ptx(text).kernels["f"], grid, threads, [np.zeros(64, "i4")], **options)


def refused(text: str, **options: Any) -> str:
    """The message with which a text is refused."""
    with pytest.raises(ConvlabError) as caught:
        run(text, **options)
    return str(caught.value)


@contextmanager
def little_memory(more: int = 3 << 30) -> Iterator[None]:
    """At most so many bytes more than now: what asks for more fails instead of filling the machine.

    Only Linux says how much there is now; elsewhere the test still demands the refusal.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


# Python in PTX

PYTHON = [
    "__import__",
    "os.system",
    "exec",
    "eval",
    "lambda",
    "import",
    "R",
    "memory",
    "lanes",
    "pick",
    "None",
    "k0",
    "r0",
]


@pytest.mark.parametrize("name", PYTHON)
def test_names_of_python_are_names_like_any_other(name):
    text = kernel(
        f".reg .b32 {name}; .reg .b32 {name}.x; {name}: mov.u32 {name}, 7; st.global.u32 [%rd0], {name}; "
        f"{{ .reg .b32 {name}; mov.u32 {name}, 8; }}",
        head=f".global .u32 {name}[2] = {{1, 2}};\n.func {name}_f(.param .b32 {name}) {{ ret; }}\n",
    )
    out = np.zeros(64, "i4")
    launch(load_ptx(text).kernels["f"], 1, 1, [out], device="emulator")
    assert out[0] == 7


@pytest.fixture
def sources(monkeypatch) -> list[str]:
    """All Python texts that the translation makes."""
    seen: list[str] = []

    def watched(source, *rest, **options):
        seen.append(source)
        return builtins.compile(source, *rest, **options)

    monkeypatch.setattr(translation, "compile", watched, raising=False)
    return seen


def test_no_text_of_the_ptx_enters_generated_python(sources):
    mark = "zyzzyva"
    text = f"""{HEAD}
        .global .align 4 .u32 {mark}_global = 271828; .const .u32 {mark}_const = 3;
        .func (.reg .u32 {mark}_r) {mark}_callee(.reg .u32 {mark}_x) {{ add.u32 {mark}_r, {mark}_x, 314159; ret; }}
        .visible .entry {mark}(.param .u64 {mark}_p) {{
        .reg .b32 {mark}<4>; .reg .b64 {mark}d; .reg .pred {mark}q;
        .shared .u32 {mark}_shared; .local .u32 {mark}_local;
        ld.param.u64 {mark}d, [{mark}_p]; mov.u32 {mark}0, 161803; setp.eq.u32 {mark}q, {mark}0, 5;
        @{mark}q bra {mark}_label;
        call ({mark}1), {mark}_callee, ({mark}0); ld.global.u32 {mark}2, [{mark}_global];
        st.shared.u32 [{mark}_shared], {mark}2;
        st.local.u32 [{mark}_local], {mark}1; ld.const.u32 {mark}3, [{mark}_const];
        {mark}_label: st.global.u32 [{mark}d], {mark}1; ret; }}
        .file 1 "{mark}.cu"
    """
    out = np.zeros(1, "u4")
    launch(load_ptx(text).kernels[mark], 1, 1, [out], device="emulator")
    assert out[0] == 161803 + 314159
    (source,) = sources
    for piece in (mark, "271828", "314159", "161803", ".cu"):
        assert piece not in source


OPCODES = ["vote.sync.{}.pred", "shfl.sync.{}.b32", "match.{}.sync.b32", "redux.sync.{}.s32", "bar.{}", "setp.{}.s32"]
OPCODES += ["cvt.{}.f32.f32", "mul.{}.s32", "atom.global.{}.u32", "ld.{}.u32", "st.global.{}", "add.{}.f32", "{}.u32"]
OPCODES += ["min.{}.s32", "lop3.{}.b32", "prmt.b32.{}", "mma.sync.aligned.m16n8k16.row.col.{}.f16.f16.f32", "cp.{}"]
OPCODES += ["wmma.{}.a.sync.aligned.row.m16n16k16.f16", "testp.{}.f32", "bfe.{}", "slct.{}.s32", "ldmatrix.sync.{}.b16"]


@pytest.mark.parametrize("opcode", OPCODES)
def test_python_in_an_opcode_is_refused(opcode, sources):
    for poison in ("exec", "x$y", "__class__", "all_(0)", "any or 1", "lambda", "0", "memory"):
        for operands in (
            "%r1, %r2, %r3, %r4",
            "%p1, %p2, -1",
            "%r1, [%rd0], %r2",
            "%p1, %r1, %r2",
            "%r1, %r2",
            "",
            "0",
        ):
            try:
                run(kernel(f"{opcode.format(poison)} {operands};"))
            except ConvlabError:
                continue
            assert "x$y" not in sources[-1]
            assert "__class__" not in sources[-1]


@pytest.mark.parametrize(
    "text",
    [
        kernel("mov.u32 %r1, 'a';"),
        kernel('mov.u32 %r1, "a";'),
        kernel('.pragma "x\ny";'),
        kernel("mov.u32 %r1, 1\\\n2;"),
        kernel("mov.u32 %r1, __import__('os').system('true');"),
        kernel("mov.u32 %r1, é;"),
        kernel("mov.u32 %r1, \0;"),
        kernel("mov.u32 %r1, %r2; #"),
        "\ufeff" + kernel(""),
        "",
        "\n" * 100_000,
        HEAD,
        '.file 1 "a\n.cu"',
        "/*",
        ".version",
        "}",
        "{",
        ".entry",
        ".visible",
    ],
)
def test_odd_characters_and_odd_ends_are_refused_or_empty(text):
    message, names = "PTX line", set()
    try:
        names = set(load_ptx(text).kernels)
    except CompileError as error:
        message = str(error)
    assert message.startswith("PTX line")
    assert names <= {"f"}


def test_a_file_name_is_shown_and_never_opened():
    text = kernel(".loc 1 3 1\nld.global.u32 %r1, [%rd0+4096];") + '.file 1 "/etc/passwd"\n'
    (fault,) = run(text).faults
    assert (fault.file, fault.line) == ("/etc/passwd", 3)


# Sizes beyond sense

MANY = 100_000
NESTED = "nested too deeply"
VARIABLES = {  # module variables → the message
    ".global .b8 big[1099511627776];": "The variable big has 1,099,511,627,776 bytes",
    ".global .b8 big[1024][1024][1024][1024][1024];": "bytes; the emulator takes 1,073,741,824 at most",
    ".global .align 8 .b64 big[4294967295][4294967295];": "bytes; the emulator takes 1,073,741,824 at most",
    ".global .b8 big[-1];": "bytes; the emulator takes",
    ".global .b8 big[-1][-1073741825];": "bytes; the emulator takes",
    ".func g() { .reg .b32 %r<65536>; ret; }\n" * 17: "all functions together declare more than 1,048,576 registers",
    "".join(f".global .b8 m{n}[134217728]; " for n in range(9)): "1,073,741,824 at most of all variables",
    f".global .b8 v[{'9' * MANY}];": "this is no PTX",
    f".global .b8 v[0x{'f' * MANY}];": "this is no PTX",
    f".global .u32 v[{'(' * MANY}1{')' * MANY}];": NESTED,
    f".global .u32 v = {'-' * MANY}1;": NESTED,
    f".global .u32 v = {'~' * MANY}1;": NESTED,
    ".global .align 1099511627776 .b8 v[4];": "an alignment is a power of two up to 1,024",
    ".global .align 0 .b8 v[4];": "an alignment is a power of two up to 1,024",
}
BODIES = {  # bodies of a kernel → the message
    ".shared .align 4 .b8 tile[1073741824];": "of shared memory for a block, and 232,448 is the most",
    ".shared .align 4 .b8 a[200000]; .shared .b8 b[40000];": "needs 240,000 bytes of shared memory",
    ".local .align 4 .b8 own[1073741824];": "of local memory, and 524,288 is the most that a GPU has",
    ".reg .b32 %x<4294967296>;": "declares more than 65,536 registers",
    "{ .reg .b32 %x<9999>; }" * 99: "declares more than 65,536 registers",
    f"mov.u32 %r1, {'9' * 10 * MANY};": "this is no PTX",
    f"mov.u32 %r1, {'(' * MANY}1;": "",
    f"mov.b32 {{{', '.join(['%r1'] * MANY)}}}, %r2;": "a list in braces has 100,000 operands",
    f"ld.global.v4.u32 {{{', '.join(['%r1'] * MANY)}}}, [%rd0];": "a list in braces has 100,000 operands",
    "ld.global.v4.u32 {%r1, %r2, %r3}, [%rd0];": "3 elements at a time",
    "add.u32 %r1, " + "[" * MANY + ";": "",
    "{" * MANY + "}" * MANY: NESTED,
    "add.u32 %r1, %r1, %r1;\n" * (1 << 16): "has 65,538 instructions",
    ";" * (1 << 23): "the emulator reads 8,388,608 at most",
}
TEXTS = {kernel("", f"{text}\n"): message for text, message in VARIABLES.items()}
TEXTS |= {kernel(text): message for text, message in BODIES.items()}
TEXTS |= {
    f"{HEAD}.entry f(.param .align 8 .b8 p[1099511627776]) {{ ret; }}": "a parameter has more than 32,768 bytes",
    f"{HEAD}.entry f({', '.join(f'.param .u64 p{n}' for n in range(5000))}) {{ ret; }}": "f has 40,000 bytes of para",
}


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_what_is_too_large_is_refused_before_it_takes_memory(number):
    text, message = list(TEXTS.items())[number]
    with little_memory():
        assert message in refused(text)


def test_many_labels_scopes_and_blocks_are_read_and_run():
    many, out = 2000, np.zeros(1, "u4")
    labels = "".join(
        f"L{n}: add.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra L{n * 7 % many};\n" for n in range(many)
    )
    text = kernel(f"mov.u32 %r1, 0;\n{labels} st.global.u32 [%rd0], %r1;")
    launch(load_ptx(text).kernels["f"], 1, 1, [out], device="emulator")
    assert out[0] == many
    scope = "{ .reg .b32 t; mov.u32 t, 1; L: add.u32 %r1, %r1, t; "
    text = kernel(f"mov.u32 %r1, 0;\n{(scope * 100 + '}' * 100) * 10} st.global.u32 [%rd0], %r1;")
    launch(load_ptx(text).kernels["f"], 1, 1, [out], device="emulator")
    assert out[0] == 1000


def test_thousands_of_registers_live_across_thousands_of_blocks():
    many = 8000
    text = kernel(
        f".reg .b64 q<{many}>; cvt.u64.u32 %rd1, %tid.x; mov.u32 %r1, 0; setp.eq.u32 %p1, %r1, 1;"
        + "".join(f"add.u64 q{n}, %rd1, {n};" for n in range(many))
        + "".join(f"L{n}: @%p1 bra L{max(0, n - 1)};" for n in range(many))
        + "".join(f"add.u64 %rd1, %rd1, q{n};" for n in range(many))
        + "setp.eq.u32 %p2, %r1, 0; @%p2 st.global.u64 [%rd0], %rd1;"
    )
    out = np.zeros(1, "u8")
    with little_memory(1 << 30):
        launch(load_ptx(text).kernels["f"], 256, 64, [out], device="emulator", budget=50_000, faults="record")
    assert out[0] == 63 * (many + 1) + many * (many - 1) // 2


def test_functions_that_call_each_other_without_end_in_the_text_are_refused_or_run():
    chain = "".join(f".func f{n}() {{ {f'call f{n - 1};' if n else ''} ret; }}\n" for n in range(400))
    assert "levels deep" in refused(kernel("call f399;", chain))
    circle = ".func b();\n.func a() { call b; ret; }\n.func b() { call a; ret; }\n"
    (fault,) = run(kernel("call a;", circle)).faults
    assert fault.kind == "endless_loop"


# Launches beyond sense


@pytest.mark.parametrize(
    ("grid", "block"),
    [
        *[(0, 32), ((1, 0), 32), (1, 0), (-1, 1), (1, -5), (1, 1025), (1, (32, 33)), (1, (1, 1, 65)), (2**31, 1)],
        *[((1, 65536), 1), ((2**31 - 1, 65535, 65535), 1024), (10**30, 1), ("3", 1), (None, 1), ((), 1), ((1,) * 4, 1)],
        *[(1.5, 1), (True, 1), (float("nan"), 1), (1, [[1]])],
    ],
)
def test_an_absurd_shape_is_a_launch_error(grid, block):
    with pytest.raises(LaunchError):
        run(kernel("mov.u32 %r1, 0;"), grid=grid, threads=block)


@pytest.mark.parametrize("shared", [-1, 1 << 60, 1 << 31, 1.5, "48", None, True])
def test_absurd_shared_memory_is_refused(shared):
    with little_memory(), pytest.raises(LaunchError, match="is no number of bytes from 0 to"):
        run(kernel("mov.u32 %r1, 0;"), shared=shared)


@pytest.mark.parametrize(
    "args", [[], [1, 2], ["x"], [np.zeros(4)[::2]], [object()], [1 << 70], [np.array(["a"], object)]]
)
def test_absurd_arguments_are_argument_errors(args):
    with pytest.raises(ArgumentError):
        launch(load_ptx(kernel("ret;")).kernels["f"], 1, 1, args, device="emulator")


@pytest.mark.parametrize(
    "declared", [".f32 p[24]", ".u64 p[2]", ".align 8 .b8 p[16]", ".f64 p[0]", ".pred p", ".b128 p"]
)
def test_parameters_of_odd_types_take_no_number(declared):
    with pytest.raises(ConvlabError):
        launch(load_ptx(f"{HEAD}.entry f(.param {declared}) {{ ret; }}").kernels["f"], 1, 1, [1.5], device="emulator")


@pytest.mark.parametrize("pointer", [None, 0, 1, 2**64 - 1, -1, 1 << 40, 1 << 60, 1 << 61, 1 << 62, 1 << 63, 12345])
@pytest.mark.parametrize(
    "access", ["ld.global.u32 %r1, [%rd0];", "st.u32 [%rd0], %r1;", "atom.add.u32 %r1, [%rd0], 1;"]
)
def test_a_wild_pointer_is_a_fault_and_touches_nothing(pointer, access):
    text = kernel(f"{access} mov.u64 %rd1, keep; ld.global.u32 %r2, [%rd1];", ".global .u32 keep = 5;\n")
    run_ = launch(load_ptx(text).kernels["f"], 1, 3, [pointer], device="emulator", faults="record")
    if pointer == 1 << 40:  # there lies the variable
        assert not [f for f in run_.faults if f.kind == "out_of_bounds"]
    else:
        assert {f.kind for f in run_.faults} & {"out_of_bounds", "misaligned"}


def test_a_name_of_a_megabyte_is_shown_in_part():
    name = "n" * 1_000_000
    (fault,) = run(kernel(f".shared .b32 {name}; ld.shared.u32 %r1, [{name}+400];"), threads=1).faults
    assert len(fault.message) < 300


def test_empty_arrays_have_no_elements():
    text = kernel("ld.global.u32 %r1, [%rd0];")
    with pytest.raises(KernelFault, match="reads argument_1"):
        launch(load_ptx(text).kernels["f"], 1, 1, [np.zeros(0, "i4")], device="emulator")


def test_a_flood_of_printf_is_cut_off():
    source = (
        'extern "C" __global__ void f() { for (int i = 0; i < 200; i++) printf("%0*d %s\\n", 1000, i, "0123456789"); }'
    )
    with little_memory():
        run_ = launch(compile(source).kernels["f"], 8, 256, [], device="emulator")
    assert len(run_.stdout) < 1 << 21
    assert "more calls of printf" in run_.stdout


@pytest.mark.parametrize("form", ["%2147483647d", "%.2147483647f", "%-999999999s", "%*d", "%.*e", "%0999999999x"])
def test_a_width_of_gigabytes_prints_no_gigabytes(form):
    source = f'extern "C" __global__ void f() {{ printf("{form}\\n", 2147483647, 2147483647); }}'
    with little_memory():
        run_ = launch(compile(source).kernels["f"], 1, 4, [], device="emulator")
    assert len(run_.stdout) < 1 << 21


def test_a_format_string_without_an_end_prints_what_there_is():
    source = 'extern "C" __global__ void f(const char* s) { printf("%s|\\n", s); printf(s); }'
    text = np.frombuffer(b"abc%n%n%s%d", np.int8).copy()
    run_ = launch(compile(source).kernels["f"], 1, 1, [text], device="emulator", faults="record")
    assert run_.stdout.startswith("abc%n%n%s%d|\nabc")
    run_ = launch(compile(source).kernels["f"], 1, 1, [None], device="emulator", faults="record")
    assert "(null)" in run_.stdout


@pytest.mark.parametrize(
    "asm",
    [
        "}} ret; .entry evil() {{ ret; ",
        '\\" + __import__(\\"os\\").system(\\"true\\") + \\"',
        "mov.u32 %0, 1;\\n.func x() {{ }}",
        "bra NOWHERE;",
        "import os",
        "{{{{{{{{",
        "}}",
        ".reg .b32 %x<99999999>;",
        "trap;",
        "exit;",
        "call (%0), exec, (%0);",
        "L: bra L;",
    ],
)
def test_inline_assembly_ends_in_an_error_of_ours_or_a_fault(asm):
    text = asm.replace("{{", "{").replace("}}", "}")
    source = f'extern "C" __global__ void f(int* p) {{ int v = 0; asm volatile("{text}" : "=r"(v)); p[0] = v; }}'
    try:
        run_ = launch(
            compile(source).kernels["f"], 1, 32, [np.zeros(4, "i4")], device="emulator", faults="record", budget=5000
        )
    except ConvlabError:
        return
    except UnknownKernelError:  # the text has closed the kernel's braces and named another one
        return
    else:
        assert run_.faults or asm == "exit;" or asm.startswith("}}")  # the kernel ends there, and nothing is wrong


def test_a_terabyte_in_cuda_c_is_refused():
    source = '__device__ char big[1ull << 40]; extern "C" __global__ void f() { big[0] = 1; }'
    with little_memory(), pytest.raises(CompileError, match=r"The variable big has 1,099,511,627,776 bytes"):
        launch(compile(source).kernels["f"], 1, 1, [], device="emulator")
