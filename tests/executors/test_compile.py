from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from threading import Timer

import pytest

from convlab.emulator.parse import parse
from convlab.errors import CompileError
from convlab.executors import compiler as compiler_module
from convlab.executors import nvrtc
from convlab.executors.compile import compile, nvrtc_version, why_not

TWICE = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }'

posix_signals = pytest.mark.skipif(sys.platform == "win32", reason="there, signals go by console, not by process group")

# 2^30 instances of a template: it would take hours.
BOMB = """template <int D, int I> struct T { enum { v = T<D - 1, 2 * I>::v + T<D - 1, 2 * I + 1>::v }; };
template <int I> struct T<0, I> { enum { v = I & 1 }; };
extern "C" __global__ void bomb(int* x) { *x = T<30, 0>::v; }
"""

HEADERS = {
    "cuda_fp16.h": "half* x) { x[0] = __float2half(1.5f);",
    "cuda_bf16.h": "__nv_bfloat16* x) { x[0] = __float2bfloat16(1.5f);",
    "mma.h": "float* x) { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum; "
    "nvcuda::wmma::fill_fragment(sum, 1.5f); nvcuda::wmma::store_matrix_sync(x, sum, 16, nvcuda::wmma::mem_row_major);",
    "cooperative_groups.h": "int* x) { x[0] = cooperative_groups::this_thread_block().size();",
    "cuda/std/cstdint": "cuda::std::uint16_t* x) { x[0] = 7;",
    "cuda/pipeline": "int* x) { cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline(); x[0] = 1;",
    "cuda_pipeline.h": "int* x) { __pipeline_commit(); x[0] = 1;",
    "common.cuh": "int* x) { x[0] = sizeof(Conv);",
}


@pytest.mark.parametrize("header", HEADERS)
def test_headers_of_the_toolkit_and_of_the_course_are_found(header):
    source = f'#include <{header}>\nextern "C" __global__ void use({HEADERS[header]} }}'
    kernel = compile(source, "use.cu").kernels["use"]
    assert [parameter.name for parameter in kernel.parameters] == ["x"]


def test_a_working_folder_with_spaces_and_chinese_letters_leaves_no_trace(tmp_path, monkeypatch):
    folder = tmp_path / "my 课程"
    folder.mkdir()
    monkeypatch.chdir(folder)
    source = "#include <cuda_fp16.h>\n__global__ void f(half* x, float y) { half h = y; x[0] = h; }"
    monkeypatch.setattr(compiler_module, "_compiler", nvrtc.Compiler())  # started in this folder
    ptx = compile(source, "卷积 核.cu").ptx
    assert sorted(re.findall(r'\.file\s+\d+ "(.*)"', ptx)) == ["cuda_fp16.h", "卷积 核.cu"]


def test_a_file_beside_the_notebook_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "mine.cuh").write_text("#error read")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CompileError, match=r'could not open source file "mine\.cuh"'):
        compile('#include "mine.cuh"')


def test_lines_are_the_sources_own_below_an_include():
    source = '#include "common.cuh"\n\nextern "C" __global__ void f(float* x) {\n    x[0] = 1;\n}\n'
    entry = parse(compile(source, "lines.cu").ptx).entries["f"]
    stores = [i.place for i in entry.instructions if i.parts[0] == "st"]
    assert [(place.file, place.line) for place in stores] == [("lines.cu", 4)]


@pytest.mark.parametrize(
    ("given", "name"),
    [("a/b c/mine.cu", "mine.cu"), (r"C:\a\mine.cu", "mine.cu"), ('my "own".cu', "my own.cu"), ("", "kernel.cu")],
)
def test_the_name_is_the_last_part_of_a_path(given, name):
    module = compile(TWICE, given)
    assert module.name == name
    assert f'"{name}"' in module.ptx


def test_the_same_source_is_compiled_once_yet_each_module_is_its_own(monkeypatch):
    source = TWICE + "  // test_the_same_source"
    first = compile(source, options=["-DA=1"])
    monkeypatch.setattr(compiler_module._compiler, "compile", None)
    second = compile(source, options=("-DA=1",))
    assert second.ptx == first.ptx
    assert second is not first
    with pytest.raises(TypeError):
        compile(source, options=["-DA=2"])


def test_options_and_architecture_reach_the_compiler():
    source = 'extern "C" __global__ void f(int* x) { x[0] = TILE; }'
    module = compile(source, arch="compute_75", options=["-DTILE=4711"])
    assert "4711" in module.ptx
    assert module.program.target == "sm_75"


def test_windows_line_ends_count_as_one():
    assert compile(TWICE.replace(" {", "\r\n{")).ptx == compile(TWICE.replace(" {", "\n{")).ptx


MISTAKES = {
    "semicolon": (
        'extern "C" __global__ void f(float* x, int n) {\n\tint i = threadIdx.x\n\n    if (i < n) x[i] = y;\n}\n',
        'mine.cu:4:5: expected a ";"\n  4 |     if (i < n) x[i] = y;\n    |     ^\n'
        "  Fix: put a semicolon at the end of line 2.",
    ),
    "semicolon inside a line": (
        "__global__ void f(float* x) { float y = 1 x[0] = y; }",
        'mine.cu:1:43: expected a ";"\n  1 | __global__ void f(float* x) { float y = 1 x[0] = y; }\n'
        "    |                                           ^\n  Fix: put a semicolon before the marked place.",
    ),
    "misspelling": (
        "__global__ void f(float* x) {\n\tx[treadIdx.x] = blokIdx.x;\n}",
        'mine.cu:2:4: identifier "treadIdx" is undefined\n  2 |     x[treadIdx.x] = blokIdx.x;\n    |       ^\n'
        "1 more error, in line 2.\n  Fix: did you mean threadIdx?",
    ),
    "many": (
        "__global__ void f(float* x) {\n    aa();\n    bb();\n    cc(); dd();\n}",
        'mine.cu:2:5: identifier "aa" is undefined\n  2 |     aa();\n    |     ^\n3 more errors, in lines 3, 4.',
    ),
    "fixed-width type": (
        "__global__ void f(uint8_t* x) { }",
        'mine.cu:1:19: identifier "uint8_t" is undefined\n  1 | __global__ void f(uint8_t* x) { }\n'
        "    |                   ^\n5 more errors, in line 1.\n"
        "  Fix: #include <cuda/std/cstdint> and write cuda::std::uint32_t; or write unsigned int.",
    ),
    "host header": (
        "#include <stdint.h>\n__global__ void f(int* x) { }",
        'mine.cu:1:20: could not open source file "stdint.h" (no directories in search list)\n'
        "  1 | #include <stdint.h>\n    |                    ^\n  Fix: there is no host compiler here, hence no "
        "<stdint.h>: #include <cuda/std/cstdint> and write cuda::std::uint32_t; or write unsigned int.",
    ),
    "header for host code": (
        "#include <vector>",
        'mine.cu:1:18: could not open source file "vector" (no directories in search list)\n  1 | #include <vector>\n'
        "    |                  ^\n  Fix: remove the line, and what needs it: <vector> is for host code, and only "
        "device code is compiled here.",
    ),
    "header with a twin": (
        "#include <array>",
        'mine.cu:1:17: could not open source file "array" (no directories in search list)\n  1 | #include <array>\n'
        "    |                 ^\n  Fix: #include <cuda/std/array>: the namespace is cuda::std instead of std.",
    ),
    "half": (
        "__global__ void f(half* x) { }",
        'mine.cu:1:19: identifier "half" is undefined\n  1 | __global__ void f(half* x) { }\n'
        "    |                   ^\n5 more errors, in line 1.\n  Fix: #include <cuda_fp16.h>.",
    ),
    "full-width punctuation": (
        "__global__ void f(float* x) { /* 乘法 */ x[0] = 2； }",
        "mine.cu:1:48: unrecognized token\n  1 | __global__ void f(float* x) { /* 乘法 */ x[0] = 2； }\n"
        "    |                                                  ^\n3 more errors, in line 1.\n"
        "  Fix: '；' is no character of C: write names and punctuation with ASCII characters.",
    ),
    "brace": (
        "__global__ void f(float* x) {\n    if (x) {\n    x[0] = 1;\n}\n",
        'mine.cu:1:29: expected a "}"\n  1 | __global__ void f(float* x) {\n    |                             ^\n'
        "  Fix: close the brace that opens here.",
    ),
    "host variable": (
        "int n;",
        "mine.cu:1:5: A namespace scope variable without memory space annotations "
        "(__device__/__constant__/__shared__/__managed__) is considered a host variable, and host variables are not "
        "allowed in JIT mode\n  1 | int n;\n    |     ^\n  Fix: write __device__ or __constant__ before the variable.",
    ),
    "overloads": (
        "__global__ void f(float* x) { x[0] = sqrt(2); }",
        'mine.cu:1:38: more than one instance of overloaded function "sqrt" matches the argument list:\n'
        "  1 | __global__ void f(float* x) { x[0] = sqrt(2); }\n    |                                      ^\n"
        '  function "sqrt(float)" (declared implicitly)\n  function "sqrt(double)" (declared implicitly)\n'
        "  argument types are: (int)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_error_quotes_the_line_and_says_how_to_mend_it(mistake):
    source, message = MISTAKES[mistake]
    with pytest.raises(CompileError) as caught:
        compile(source, "mine.cu")
    assert str(caught.value) == message
    assert caught.value.name == "mine.cu"
    assert caught.value.line == int(message.split(":")[1])


def test_main_is_host_code_that_nobody_needs_here():
    with pytest.raises(CompileError, match="host functions are not allowed") as caught:
        compile("__global__ void k() { }\nint main() { k<<<1, 1>>>(); }", "mine.cu")
    fix = "delete main and other host code: only kernels are compiled here, and cl.launch or convlab run starts them."
    assert str(caught.value).endswith(f"  Fix: {fix}")


def test_headers_that_books_include_are_there_and_empty():
    source = '#include <stdio.h>\n#include <cuda_runtime.h>\n#include "device_launch_parameters.h"\n#include <math.h>\n'
    module = compile(source + '__global__ void k(float* x) { *x = sqrtf(*x); printf("%f", *x); }', "book.cu")
    assert module.program.entries["_Z1kPf"].instructions[0].place.line == 5


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("add.cu", (), "'add.cu' looks like the name of a file.\n  Fix: pass pathlib.Path('add.cu').read_text()."),
        ("int x;", "-DN=3", "options='-DN=3' is a text.\n  Fix: pass a list of them, options=['-DN=3']."),
    ],
)
def test_a_file_name_and_a_lone_option_are_named(source, options, message):
    with pytest.raises(CompileError) as caught:
        compile(source, options=options)
    assert message in str(caught.value)


def test_an_error_inside_a_header_quotes_no_line_of_the_learners():
    with pytest.raises(CompileError) as caught:
        compile("#define __half_raw )\n#include <cuda_fp16.h>\n" + "// not this line\n" * 9999, "mine.cu")
    assert re.match(r"cuda_fp16\.hp?p?:\d+:\d+: ", str(caught.value))
    assert "not this line" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": b"int x;"}, "compile takes the text of a CUDA C source, not bytes."),
        ({"source": "", "arch": "sm_80"}, "arch='sm_80' is no virtual architecture; write it as 'compute_80'."),
        (
            {"source": "", "arch": "compute_12", "name": "a.cu"},
            "a.cu does not compile: invalid value for --gpu-architecture (-arch)",
        ),
        ({"source": "", "options": ["--bogus"]}, "kernel.cu does not compile: unrecognized option --bogus found"),
    ],
)
def test_what_is_no_compilation_is_refused(arguments, message):
    with pytest.raises(CompileError) as caught:
        compile(**arguments)
    assert str(caught.value) == message


def test_nvrtc_is_here_and_says_its_version():
    assert re.fullmatch(r"\d+\.\d+", nvrtc_version() or "")
    assert why_not() == ""


def test_without_nvrtc_editing_asks_for_another_system(monkeypatch):
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "1")
    assert nvrtc_version() is None
    with pytest.raises(CompileError) as caught:
        compile(TWICE, "mine.cu")
    assert str(caught.value) == (
        "mine.cu cannot be compiled on this machine: NVRTC is hidden by the environment variable CONVLAB_HIDE_NVRTC.\n"
        "The course's own kernels run everywhere, from PTX that comes with it; this source is none of them.\n"
        "  Fix: edit CUDA C on Linux or Windows (WSL, a container, a JupyterHub)."
    )


@pytest.mark.parametrize(
    ("target", "value", "reason"),
    [
        ("sys.platform", "darwin", "NVIDIA makes no CUDA compiler for macOS."),
        (
            "find_spec",
            lambda name: None,
            "The Python package cuda-bindings, through which NVRTC is called, is not installed.",
        ),
    ],
)
def test_the_reason_why_there_is_no_nvrtc(monkeypatch, target, value, reason):
    monkeypatch.setattr(f"convlab.executors.nvrtc.{target}", value)
    assert why_not() == reason


def test_a_library_that_does_not_load_is_a_reason_too(monkeypatch, tmp_path):
    (tmp_path / "cuda" / "bindings").mkdir(parents=True)
    for folder in ("cuda", "cuda/bindings"):
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "cuda" / "bindings" / "nvrtc.py").write_text("raise RuntimeError('libnvrtc.so: no such file\\nmore')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    compiler = nvrtc.Compiler()
    assert compiler.why_not() == "NVRTC cannot be loaded: libnvrtc.so: no such file"
    assert compiler.version() is None
    compiler._kill()


def test_a_compiler_that_dies_is_told_and_replaced():
    compile(TWICE, options=["-DSTARTED"])
    process = compiler_module._compiler._process
    assert process is not None
    Timer(0.5, process.kill).start()
    with pytest.raises(CompileError, match=r"^bomb.cu: the compiler crashed or ran out of memory on this source.\n"):
        compile(BOMB, "bomb.cu")
    assert compile(TWICE, options=["-DREPLACED"]).kernels["twice"]


@posix_signals
def test_stopping_something_else_leaves_the_compiler_alone():
    compile(TWICE, options=["-DSTARTED_AGAIN"])
    process = compiler_module._compiler._process
    assert process is not None
    process.send_signal(signal.SIGINT)
    for number in range(20):
        compile(TWICE, options=[f"-DN={number}"])
    assert compiler_module._compiler._process is process


INTERRUPTED = f"""
import signal
from convlab.executors.compile import compile
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
compile({TWICE!r})
print("compiling", flush=True)
try:
    compile({BOMB!r})
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(compile({TWICE!r}, options=["-DAFTER"]).kernels, flush=True)
"""


@posix_signals
def test_ctrl_c_and_the_stop_button_end_a_compilation_and_the_next_one_works():
    # Jupyter's stop button sends the signal to the kernel's whole process group, as a terminal's Ctrl-C does.
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "compiling\n"
            Timer(0.5, os.killpg, (process.pid, signal.SIGINT)).start()
            assert process.communicate(timeout=60)[0] == "interrupted\ntwice(float* x)\n"
        finally:
            process.kill()


def test_the_compiler_ends_with_its_caller_even_in_the_middle_of_a_compilation():
    command = [sys.executable, "-P", nvrtc.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert b"version" in process.stdout.readline()
        job = {"source": BOMB, "name": "bomb.cu", "headers": {}, "options": []}
        process.stdin.write(nvrtc.json.dumps(job).encode() + b"\n")
        process.stdin.close()
        try:
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
