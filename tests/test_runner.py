from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from convlab import cli, runner
from convlab.errors import ConvlabError, KernelFault
from convlab.executors.compile import compile

ADD = """extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
"""
CONV = """__global__ void conv(const float* x, const float* w, float* y, int C, int H, int W, int R, int S) {
    int q = blockIdx.x * blockDim.x + threadIdx.x, p = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    int P = H - R + 1, Q = W - S + 1;
    if (p >= P || q >= Q) return;
    float sum = 0.0f;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            for (int s = 0; s < S; s++)
                sum += x[(c * H + p + r) * W + q + s] * w[((k * C + c) * R + r) * S + s];
    y[(k * P + p) * Q + q] = sum;
}
"""
SHIFT = """__global__ void shift(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x + 1];
}
__global__ void other(int* y) { y[0] = 1; }
"""
SPIN = "__global__ void spin(int* flag) {\n    int n = 0;\n    while (flag[n] == 0) n ^= 1;\n}\n"
LONG = """__global__ void busy(float* x, int n) {
    for (int i = 0; i < n; i++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
}
"""
SOURCES = {"add.cu": ADD, "conv.cu": CONV, "shift.cu": SHIFT, "spin.cu": SPIN, "long.cu": LONG}
ADD_RUN = ("add.cu", "--grid", "4", "--block", "32,2")
THREE = ("--arg", "rand:f32:200", "--arg", "rand:f32:200", "--arg", "zeros:f32:200")

Capture = pytest.CaptureFixture[str]
posix_signals = pytest.mark.skipif(sys.platform == "win32", reason="there, Ctrl-C goes to a console, not to a process")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, source in SOURCES.items():
        (tmp_path / name).write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return cli.main(["run", *words, "--device", "emulator"])


def mistake(capsys: Capture, *words: str) -> str:
    """The message of a mistake: with a fix, and with nothing on standard output."""
    before = sorted(os.listdir())
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("convlab: ")
    assert sorted(os.listdir()) == before
    return err


def document(capsys: Capture, *words: str, code: int = 0) -> dict[str, Any]:
    assert run(*words, "--json") == code
    return dict(json.loads(capsys.readouterr().out))


def test_a_vector_sum_is_written_and_told(capsys: Capture):
    words = (*ADD_RUN, *THREE, "--arg", "200", "--out", "c=c.npy", "--out", "1=a.npy", "--out-npz", "all.npz")
    assert run(*words) == 0
    told = capsys.readouterr().out
    assert told.startswith("add<<<(4, 1, 1), (32, 2, 1)>>> on emulator\n")
    assert "Files:\nc.npy\na.npy\nall.npz\n" in told
    with np.load("all.npz") as arrays:
        assert sorted(arrays.files) == ["a", "b", "c"]
        a, b, c = (arrays[name] for name in "abc")
    assert np.array_equal(np.load("c.npy"), c)
    assert np.array_equal(np.load("a.npy"), a)
    assert not np.array_equal(a, b)
    # Four blocks of 32 × 2 threads, of which only x counts: 0 to 31 in each, at most 128 elements.
    assert np.array_equal(c[:128], (a + b)[:128])
    assert not c[128:].any()
    assert sorted(os.listdir()) == sorted([*SOURCES, "c.npy", "a.npy", "all.npz"])


def test_a_convolution_of_files_by_name_equals_numpy(capsys: Capture):
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((2, 3, 9, 14)).astype("f4"), rng.standard_normal((5, 3, 3, 2)).astype("f4")
    np.savez("data.npz", image=x[1], filters=w)
    sizes = [word for size in ("3", "H=9", "W=14", "3", "S=2") for word in ("--arg", size)]
    arrays = ("--arg", "y=full:f32:5,7,13:nan", "--arg", "data.npz:image", "--arg", "w=data.npz:filters")
    assert run("conv.cu", "--grid", "4x2,5", "--block", "4x4", *arrays, *sizes, "--out", "y=y.npy") == 0
    windows = np.lib.stride_tricks.sliding_window_view(x[1].astype(float), (3, 2), axis=(1, 2))
    expected = np.einsum("cpqrs,kcrs->kpq", windows, w)
    np.testing.assert_allclose(np.load("y.npy"), expected, atol=1e-5)
    row = next(line for line in capsys.readouterr().out.splitlines() if "sum += x" in line)
    assert int(row.split()[1].replace(",", "")) > 1000


def test_json_holds_counters_lines_and_arrays(capsys: Capture):
    found = document(capsys, *ADD_RUN, *THREE, "--arg", "200")
    assert found["counters"]["requests_global_load"] == 16
    assert [line["line"] for line in found["lines"] if line["counters"]["requests_global_store"]] == [3]
    assert [array["changed"] for array in found["arrays"]] == [False, False, True]
    assert found["signature"] == "add(const float* a, const float* b, float* c, int n)"


def test_the_seed_makes_other_arrays_and_no_observation_no_counters(capsys: Capture):
    first, again, other = (
        document(capsys, *ADD_RUN, *THREE, "--arg", "200", "--no-observe", "--seed", seed) for seed in ("0", "0", "7")
    )
    assert first == again
    assert first["arrays"][0]["first"] != other["arrays"][0]["first"]
    assert first["counters"] == {}
    assert first["lines"] == []


def test_a_fault_gives_code_1_and_everything_is_still_printed_and_written(capsys: Capture):
    words = ("shift.cu", "--entry", "shift", "--grid", "1", "--block", "32")
    assert run(*words, "--arg", "arange:f32:32", "--arg", "y=full:f32:32:nan", "--out", "y=y.npy") == 1
    told = capsys.readouterr().out
    assert "error: shift.cu:2: out of bounds: block (0, 0, 0), thread (31, 0, 0) reads x[32]" in told
    assert "     2 |     y[threadIdx.x] = x[threadIdx.x + 1];\n" in told
    assert np.load("y.npy")[:31].tolist() == list(range(1, 32))
    found = document(capsys, *words, "--arg", "arange:f32:32", "--arg", "zeros:f32:32", code=1)
    assert [(fault["kind"], fault["line"]) for fault in found["faults"]] == [("out_of_bounds", 2)]


def test_an_endless_loop_ends_with_its_line(capsys: Capture):
    found = document(
        capsys, "spin.cu", "--grid", "1", "--block", "8", "--arg", "zeros:i32:2", "--budget", "2000", code=1
    )
    assert [(fault["kind"], fault["line"]) for fault in found["faults"]] == [("endless_loop", 3)]


def test_source_from_standard_input_with_macros_and_a_header_beside_it(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    (folder / "mine.cuh").write_text("__device__ REAL half_of(REAL x) { return x / 2; }\n", encoding="utf-8")
    source = '#include "mine.cuh"\n__global__ void f(REAL* x) { x[0] = half_of(x[0] + BY); }\n'
    monkeypatch.setattr(sys, "stdin", Namespace(buffer=io.BytesIO(b"\xef\xbb\xbf" + source.encode())))
    found = document(capsys, "-", "--grid", "1", "--block", "1", "-DBY=6", "-D", "REAL=double", "--arg", "ones:f64:1")
    assert found["file"] == "stdin.cu"
    assert found["arrays"][0]["first"] == [3.5]


def test_ptx_runs_and_its_arguments_have_numbers(folder: Path, capsys: Capture):
    (folder / "add.ptx").write_text(compile(ADD, "add.cu").ptx, encoding="utf-8")
    words = ("add.ptx", *ADD_RUN[1:], *THREE, "--arg", "200")
    assert run(*words, "--out", "argument_3=c.npy", "--out", "1=a.npy", "--out", "2=b.npy") == 0
    capsys.readouterr()
    assert np.array_equal(np.load("c.npy")[:128], (np.load("a.npy") + np.load("b.npy"))[:128])
    assert "add.ptx is compiled already, and -DX is for the compiler." in mistake(capsys, *words, "-DX")


def test_a_parameter_may_be_called_file(folder: Path):
    (folder / "file.cu").write_text("__global__ void f(int* file, int* self) { *file = 7; *self = 8; }")
    arrays = ("--arg", "zeros:i32:1", "--arg", "zeros:i32:1")
    assert run("file.cu", "--grid", "1", "--block", "1", *arrays, "--out-npz", "all.npz") == 0
    with np.load("all.npz") as found:
        assert [found["file"].tolist(), found["self"].tolist()] == [[7], [8]]


def test_an_input_is_written_over_by_its_own_argument_alone(capsys: Capture):
    np.save("c.npy", np.zeros(200, np.float32))
    rest = ("--arg", "ones:f32:200", "--arg", "ones:f32:200", "--arg", "200")
    assert run(*ADD_RUN, "--arg", "c=c.npy", *rest, "--out", "c=./c.npy") == 0
    assert np.load("c.npy")[:128].tolist() == [2] * 128
    capsys.readouterr()
    wrong = mistake(capsys, *ADD_RUN, "--arg", "a=c.npy", *rest, "--out", "c=./c.npy")
    assert wrong == "convlab: c.npy is the input a.\n  Fix: write to another file.\n"
    np.savez("in.npz", a=np.zeros(200, np.float32))
    assert "in.npz is the input a." in mistake(capsys, *ADD_RUN, "--arg", "a=in.npz", *rest, "--out-npz", "in.npz")


def test_a_file_that_cannot_be_written_is_told_with_all_the_rest(capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    np.save("c.npy", np.ones(5))
    monkeypatch.setattr(np.lib.format, "write_array", full)
    assert run(*ADD_RUN, *THREE, "--arg", "200", "--out", "c=c.npy") == 2
    assert "could not write c.npy: No space left on device" in capsys.readouterr().out
    assert sorted(os.listdir()) == sorted([*SOURCES, "c.npy"])
    assert np.load("c.npy").tolist() == [1] * 5


def test_a_crash_of_a_gpu_is_told_and_writes_nothing(capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    def crash(kernel: Any, *_: object, **__: object) -> None:
        raise KernelFault("On the GPU, add read outside of its arrays.", Run("add", "cuda", (4, 1, 1), (32, 2, 1)))

    from convlab.executors.run import Run

    monkeypatch.setattr(runner, "launch", crash)
    assert run(*ADD_RUN, *THREE, "--arg", "200", "--out", "c=c.npy") == 1
    assert "Crash:\nOn the GPU, add read outside of its arrays." in capsys.readouterr().out
    assert sorted(os.listdir()) == sorted(SOURCES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.cu",), "There is no file none.cu.\n  Fix: name one of those in that folder: add.cu, broken.cu, "),
        (("folder.cu",), "folder.cu is a folder."),
        (("latin.cu",), "latin.cu is not a text: byte 3 is no UTF-8."),
        (("add.c",), "add.c is neither a .cu nor a .ptx file."),
        (("empty.cu",), "empty.cu has no kernel.\n  Fix: mark one with __global__"),
        (("broken.cu",), "broken.cu:1"),
        (("shift.cu",), "shift.cu has 2 kernels:\n    shift(const float* x, float* y)\n    other(int* y)\n  Fix: add"),
        (("shift.cu", "--entry", "shft"), "shift.cu has no kernel 'shft'. Did you mean 'shift'?"),
        (("add.cu",), "add takes 4 arguments, 0 were given; missing: a, b, c, n.\n  In: add(const float* a"),
        (("add.cu", *THREE, "--arg", "3", "--arg", "4"), "add takes 4 arguments, 5 were given; surplus: 4."),
        (("add.cu", *THREE, "--arg", "m=3"), "m is no parameter.\n  In: add("),
        (("add.cu", "--arg", "n=3", "--arg", "n=4"), "n is given twice."),
        (("add.cu", *THREE, "--arg", "3000000000"), "3000000000 does not fit: the type holds"),
        (("add.cu", *THREE, "--arg", "3", "--out", "n=n.npy"), "with one of the array arguments: a, b, c."),
        (("add.cu", *THREE, "--arg", "3", "--out", "4=n.npy"), "--out 4=n.npy names no array argument."),
        (("add.cu", *THREE, "--arg", "3", "--out", "c"), "--out c names no array argument."),
        (("add.cu", *THREE, "--arg", "3", "--out", "c=c"), "The output c does not end in .npy.\n  Fix: name it c.npy."),
        (("add.cu", *THREE, "--arg", "3", "--out-npz", "c.npy"), "Fix: name it c.npz."),
        (("add.cu", *THREE, "--arg", "3", "--out", "c=no/c.npy"), "no/c.npy cannot be written."),
        (("add.cu", *THREE, "--arg", "3", "--out", "c=q.npy", "--out", "a=./q.npy"), "is the output of two options."),
        (("add.cu", *THREE, "--arg", "3", "--arch", "sm_80"), "write it as 'compute_80'"),
        (("add.cu", *THREE, "--arg", "3", "--budget", "0"), "budget=0 is no whole number from 1 on"),
    ],
)
def test_a_mistake_in_the_command_is_told_before_anything_runs(words, said, folder, capsys, monkeypatch):
    (folder / "folder.cu").mkdir()
    (folder / "latin.cu").write_bytes(b"// \xe9t\xe9")
    (folder / "empty.cu").touch()
    (folder / "broken.cu").write_text("__global__ void f( {")
    (folder / "add.c").touch()
    assert said in mistake(capsys, *words, "--grid", "1", "--block", "32")


@pytest.mark.parametrize("text", ["0", "4,0", "1,2,3,4", "x", "", "-1", "1.5", "4 4", "9" * 5000])
@pytest.mark.parametrize("what", ["grid", "block"])
def test_a_bad_grid_or_block_is_refused(what, text, capsys):
    shape = {"grid": "1", "block": "1"} | {what: text}
    words = [f"--{name}={given}" for name, given in shape.items()]
    assert f"--{what} {text} is not one to three positive whole numbers." in mistake(capsys, "add.cu", *words)


def test_a_grid_beyond_the_limits_is_refused(capsys):
    wrong = mistake(capsys, "add.cu", "--grid", "1,70000", "--block", "1", *THREE, "--arg", "1")
    assert "65535 is the most there" in wrong


def test_arrays_beyond_the_free_memory_are_refused_before_any_is_made(capsys, monkeypatch):
    monkeypatch.setattr(runner.psutil, "virtual_memory", lambda: Namespace(available=3000))
    wrong = mistake(capsys, *ADD_RUN, *(word.replace(":200", ":16,16") for word in THREE), "--arg", "1")
    assert wrong == (
        "convlab: The arrays take 3.0 KiB, and 2.9 KiB of memory are free.\n"
        "  In: a 1,024.0 bytes, b 1,024.0 bytes, c 1,024.0 bytes\n  Fix: make them smaller.\n"
    ).replace("1,024.0 bytes", "1.0 KiB")
    assert runner._size(7 * 2**40 + 2**39) == "7.5 TiB"


def test_full_memory_is_an_error_of_ours(capsys, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise MemoryError("Unable to allocate 3.00 TiB.")

    monkeypatch.setattr(runner, "launch", full)
    assert "the memory is full. Unable to allocate 3.00 TiB.\n  Fix: use smaller" in mistake(
        capsys, *ADD_RUN, *THREE, "--arg", "200"
    )


def test_the_runner_says_mistakes_as_errors_of_ours():
    with pytest.raises(ConvlabError, match=r"There is no file none.cu"):
        runner.run(Namespace(file="none.cu"))


@posix_signals
def test_ctrl_c_in_a_long_run_is_one_line_and_code_130_and_writes_nothing(folder: Path):
    words = ("run", "long.cu", "--grid", "4000", "--block", "256", "--arg", "ones:f32:256", "--arg", "100000", "--json")
    code = (
        "import signal, sys; from convlab.cli import main; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "print('ready', file=sys.stderr, flush=True); sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--out", "x=x.npy"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "ready\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.rpartition("\r")[2].endswith("convlab: stopped by Ctrl-C.\n")
    assert "Traceback" not in err
    assert sorted(os.listdir(folder)) == sorted(SOURCES)


@pytest.mark.parametrize(("unbuffered", "options"), [("1", ["--json"]), ("", [])])
def test_a_reader_that_leaves_early_gets_no_traceback_and_changes_no_code(unbuffered, options):
    words = ("run", "shift.cu", "--entry", "shift", "--grid", "1", "--block", "32", "--device", "emulator")
    arrays = ("--arg", "zeros:f32:32", "--arg", "zeros:f32:32")
    code = "import sys; from convlab.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words, *arrays, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "TQDM_DISABLE": "1"},  # a busy machine would show the bar
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1
