from __future__ import annotations

import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import ArgumentError, KernelFault, KernelWarning, LaunchError, UnsupportedInstruction
from convlab.executors import cuda
from convlab.executors.compile import compile
from convlab.executors.empty import empty
from convlab.executors.launch import choose, launch
from convlab.kernels.conv_struct import CONV_DTYPE

ADD = """extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}
"""


def arrays(size: int = 1000):
    rng = np.random.default_rng(0)
    return rng.random(size, "f4"), rng.random(size, "f4"), np.zeros(size, "f4")


def test_a_kernel_updates_its_arrays_in_place():
    a, b, c = arrays(1024)
    run = launch(compile(ADD, "add.cu").kernels["add"], 4, 256, [a, b, c, 1024], device="emulator")
    assert (c == a + b).all()
    assert run.counters.flop == 1024
    assert run.lines["add.cu", 3].sectors_global_load == 2 * 1024 // 8


def test_a_fault_raises_and_its_run_holds_everything():
    a, b, c = arrays(1000)
    kernel = compile(ADD, "add.cu").kernels["add"]
    with pytest.raises(KernelFault) as caught:
        launch(kernel, 4, 256, [a, b, c, 1000], device="emulator")
    text = str(caught.value)
    assert "add(const float* a, const float* b, float* c, int n)" in text
    assert "add.cu:3: out of bounds: block (3, 0, 0), thread (232, 0, 0) reads a[1000]" in text
    assert "Compare the index with the array's size before the access" in text
    run = caught.value.run
    assert [(f.message[:8], f.count) for f in run.faults] == [("reads a[", 24), ("reads b[", 24), ("writes c", 24)]
    assert (c == a + b).all()
    recorded = launch(kernel, 4, 256, [a, b, c, 1000], device="emulator", faults="record")
    assert len(recorded.faults) == 3


def test_a_fault_names_the_index_of_a_tensor():
    source = (
        'extern "C" __global__ void up(const float* x, float* y, int w) { y[threadIdx.x] = x[(int)threadIdx.x - w]; }'
    )
    x, y = np.zeros((1, 2, 4, 8), "f4"), np.zeros(64, "f4")
    with pytest.raises(KernelFault) as caught:
        launch(compile(source).kernels["up"], 1, 64, [x, y, 8], device="emulator", axes={"x": "nchw"})
    assert "reads x[n=0, c=0, h=-1, w=0], which lies before the start of x" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"args": 3}, ArgumentError, "missing: `int n`"),
        (
            {"kernel": compile(ADD)},
            ArgumentError,
            "launch takes a kernel, but got Module.\n  Fix: pass .kernels['add'] of it.",
        ),
        (
            {"kernel": None},
            ArgumentError,
            "launch takes a kernel, but got NoneType.\n  Fix: pass one of a module's kernels.",
        ),
        ({"n": 2.5}, ArgumentError, "argument 4, `int n`: got float 2.5 for an integer"),
        ({"block": 2048}, LaunchError, "1024"),
        ({"grid": 0}, LaunchError, "grid"),
        ({"device": "gpu"}, LaunchError, "device='gpu' is none of 'auto', 'cuda', 'emulator'."),
        ({"faults": "ignore"}, LaunchError, "faults='ignore' is neither 'raise' nor 'record'."),
        ({"axes": {"a": "nchw"}}, ArgumentError, "names 4 axes, but a has shape (64,)"),
        ({"axes": {"a": 5}}, ArgumentError, "axes={'a': 5} has no letters."),
        ({"axes": {"q": "n"}}, ArgumentError, "axes names 'q', but the kernel's arrays are a, b, c."),
        ({"axes": "nchw"}, ArgumentError, "axes='nchw' is no mapping of names."),
        ({"budget": -5}, LaunchError, "budget=-5 is no whole number from 1 on."),
        ({"grid": 2**31 - 1, "block": 1024}, LaunchError, "make 2,199,023,254,528 threads, days of work"),
        (
            {"shared": -4},
            LaunchError,
            "shared=-4 is no number of bytes from 0 to 232,448, the most that a block can have.",
        ),
        ({"shared": 1 << 18}, LaunchError, "Fix: pass the bytes of dynamic shared memory, such as shared=4 * 256."),
        ({"shared": 2.5}, LaunchError, "shared=2.5 is no number of bytes"),
        ({"seed": -1}, LaunchError, "seed=-1 is no whole number from 0 on.\n  Fix: pass seed=8, or leave it out."),
        ({"seed": 1.5}, LaunchError, "seed=1.5 is no whole number from 0 on."),
        ({"sample": 0}, LaunchError, "sample=0 is no whole number from 1 on.\n  Fix: pass sample=8, or leave it out."),
        ({"sample": True}, LaunchError, "sample=True is no whole number from 1 on."),
        (
            {"trace": 3},
            LaunchError,
            "trace=3 names no block and warp.\n  Fix: pass trace=(block, warp), such as trace=",
        ),
        ({"trace": (0, -1)}, LaunchError, "trace=(0, -1) names no block and warp."),
        ({"trace": (0, 0, 0)}, LaunchError, "trace=(0, 0, 0) names no block and warp."),
        ({"trace": (1, 0)}, LaunchError, "trace=(1, 0) names block 1, but the grid has 1.\n  Fix: pass trace="),
        ({"trace": (0, 2)}, LaunchError, "trace=(0, 2) names warp 2, but a block has 2.\n  Fix: pass trace="),
        ({"trace": (None, 2)}, LaunchError, "trace=(None, 2) names warp 2, but a block has 2.\n  Fix: pass trace="),
    ],
)
def test_a_bad_launch_is_one_clear_message(change, error, message):
    a, b, c = arrays(64)
    options = {
        "kernel": compile(ADD, "add.cu").kernels["add"],
        "grid": 1,
        "block": 64,
        "device": "emulator",
        "args": 4,
        "n": 64,
        **change,
    }
    args = [a, b, c, options.pop("n")][: options.pop("args")]
    with pytest.raises(error) as caught:
        launch(options.pop("kernel"), options.pop("grid"), options.pop("block"), args, **options)
    assert message in str(caught.value)


def test_auto_takes_the_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: True)
    assert choose("auto") == choose("cuda") == "cuda"
    monkeypatch.setattr(cuda, "available", lambda: False)
    monkeypatch.setattr(cuda, "why_not", lambda: "There is no NVIDIA driver.")
    assert choose("auto") == choose("emulator") == "emulator"
    with pytest.raises(LaunchError, match=r"There is no NVIDIA driver. Use device='emulator'."):
        choose("cuda")


def test_printf_arrives_in_the_run_and_is_capped_where_it_is_shown():
    source = 'extern "C" __global__ void hello(float f) { printf("thread %d: %.1f\\n", threadIdx.x, f); }'
    run = launch(compile(source).kernels["hello"], 1, 50, [0.5], device="emulator")
    assert run.stdout.splitlines() == [f"thread {t}: 0.5" for t in range(50)]
    for shown in (repr(run), run._repr_html_()):
        assert "thread 19: 0.5" in shown
        assert "thread 20: 0.5" not in shown
        assert "… and 30 more lines; all of them are in run.stdout." in shown


def test_what_the_emulator_lacks_is_named_with_its_line_before_anything_runs():
    source = 'extern "C" __global__ void s(float* x) {\n  x[0] = 1;\n  asm volatile("wgmma.fence.sync.aligned;");\n}'
    x = np.zeros(1, "f4")
    with pytest.raises(UnsupportedInstruction, match=r"s\.cu:3: the emulator does not execute `wgmma\.fence\."):
        launch(compile(source, "s.cu").kernels["s"], 1, 32, [x], device="emulator")
    assert x[0] == 0


def test_lines_are_listed_with_their_source():
    a, b, c = arrays(64)
    run = launch(compile(ADD, "add.cu").kernels["add"], 1, 64, [a, b, c, 64], device="emulator")
    listing = {line: (text.strip(), counters.flop) for line, text, counters in run.listing()}
    assert listing[3] == ("c[i] = a[i] + b[i];", 64)
    html = run._repr_html_()
    assert "c[i] = a[i] + b[i];" in html
    assert "<td>24</td><td>4.0</td>" in html  # 24 sectors, 4 per request


ENDLESS = """
import numpy as np, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
from convlab.executors.compile import compile
from convlab.executors.launch import launch
source = 'extern "C" __global__ void spin(volatile int* x, int n) { for (int i = 0; i < n; ++i) x[threadIdx.x] += i; }'
source = source.replace("volatile ", "").replace("x[threadIdx.x] += i", "x[i % 7] += i / (x[0] + 1)")
kernel = compile(source).kernels["spin"]
print("ready", flush=True)
try:
    launch(kernel, 64, 256, [np.ones(256, "i4"), 1 << 30], device="emulator", budget=1 << 60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to a single process")
def test_ctrl_c_interrupts_the_emulator_at_once():
    process = subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=10)
    assert output == "interrupted\n"


def test_unobserved_runs_have_no_counters_and_read_only_arrays_stay_as_they_are():
    a, b, c = arrays(64)
    kernel = compile(ADD, "add.cu").kernels["add"]
    assert not launch(kernel, 1, 64, [a, b, c, 64], device="emulator", observe=False).lines
    a.flags.writeable = False
    launch(kernel, 1, 64, [a, b, c, 64], device="emulator")
    source = 'extern "C" __global__ void cheat(const float* a) { ((float*)a)[threadIdx.x] = 1; }'
    with pytest.raises(KernelFault, match="writes a, an array that is read-only"):
        launch(compile(source).kernels["cheat"], 1, 64, [a], device="emulator")


def test_a_listing_has_the_lines_of_the_learners_file_only():
    source = '#include "common.cuh"\nextern "C" __global__ void f(float* y, Conv v) { y[threadIdx.x] = v.N; }'
    y = np.zeros(4, "f4")
    run = launch(compile(source, "f.cu").kernels["f"], 1, 4, [y, np.zeros(1, CONV_DTYPE)[0]], device="emulator")
    foreign = replace(run, lines={**run.lines, ("common.cuh", 5): run.counters})
    assert [line for line, _, _ in foreign.listing()] == [2]


def test_a_long_printf_template_is_printed_whole():
    words = "x" * 300
    source = f'extern "C" __global__ void f() {{ printf("{words} %s\\n", "second"); }}'
    assert launch(compile(source).kernels["f"], 1, 1, [], device="emulator").stdout == f"{words} second\n"


def test_a_bare_array_in_place_of_the_list_is_explained():
    with pytest.raises(ArgumentError, match=r"args is ndarray, not a list of arguments"):
        launch(compile(ADD).kernels["add"], 1, 64, np.zeros(1000, "f4"), device="emulator")


def test_each_lane_prints_by_its_own_format():
    source = 'extern "C" __global__ void f() { printf(threadIdx.x & 1 ? "odd %d\\n" : "even %d\\n", threadIdx.x); }'
    run = launch(compile(source).kernels["f"], 1, 4, [], device="emulator")
    assert sorted(run.stdout.split("\n")) == ["", "even 0", "even 2", "odd 1", "odd 3"]


def test_launch_bounds_are_kept():
    source = 'extern "C" __global__ void __launch_bounds__(64) f(float* x) { x[threadIdx.x] = 1; }'
    kernel, x = compile(source).kernels["f"], np.zeros(96, "f4")
    launch(kernel, 1, 64, [x], device="emulator")
    with pytest.raises(LaunchError, match=r"block=\(96, 1, 1\) has 96 threads, and f is compiled for at most 64"):
        launch(kernel, 1, 96, [x], device="emulator")
    assert x.sum() == 64


ORDER = """extern "C" __global__ void f(int* order, int* count, int* last) {
    if (threadIdx.x % 32 == 0)
        order[atomicAdd(count, 1)] = threadIdx.x / 32;
    last[0] = threadIdx.x / 32;
}"""


def order_of_warps(seed):
    order, count, last = np.zeros(8, "i4"), np.zeros(1, "i4"), np.zeros(1, "i4")
    launch(compile(ORDER).kernels["f"], 1, 256, [order, count, last], device="emulator", seed=seed)
    assert sorted(order.tolist()) == list(range(8))
    return order.tolist(), int(last[0])


def test_a_seed_varies_the_order_of_warps_and_repeats_it():
    assert order_of_warps(None) == (list(range(8)), 7)
    by_seed = [order_of_warps(seed) for seed in range(8)]
    assert by_seed == [order_of_warps(seed) for seed in range(8)]
    assert len({str(order) for order, _ in by_seed}) > 4
    assert len({last for _, last in by_seed}) > 2  # which write survives is what a race is about


def test_a_seed_changes_no_result_that_barriers_protect():
    source = """extern "C" __global__ void f(const int* x, int* y) {
        __shared__ int s[200];
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        y[blockIdx.x * 200 + threadIdx.x] = s[199 - threadIdx.x]; }"""
    x = np.random.default_rng(2).integers(0, 1000, 200).astype("i4")
    for seed in range(3):
        y = np.zeros((3, 200), "i4")
        run = launch(compile(source).kernels["f"], 3, 200, [x, y], device="emulator", seed=seed)
        assert (y == x[::-1]).all()
        assert (run.counters.barriers, run.faults) == (3 * 7, [])


def test_a_trace_is_of_the_run_and_only_when_asked_for():
    a, b, c = arrays(64)
    kernel = compile(ADD, "add.cu").kernels["add"]
    run = launch(kernel, 2, 32, [a, b, c, 64], device="emulator", trace=(1, 0))
    (store,) = [each for step in run.trace.steps for each in step.accesses if each.action == "store"]
    assert (store.name, store.index.tolist()) == ("c", list(range(32, 64)))
    assert launch(kernel, 2, 32, [a, b, c, 64], device="emulator").trace is None


def test_none_traces_all_blocks_or_all_warps():
    a, b, c = arrays(256)
    kernel = compile(ADD, "add.cu").kernels["add"]
    found = {}
    for trace in ((None, 1), (1, None), (None, None)):
        run = launch(kernel, 2, 96, [a, b, c, 256], device="emulator", trace=trace)
        found[trace] = [(each.block, each.warp) for each in run.traces]
        for each in run.traces:
            (store,) = [access for step in each.steps for access in step.accesses if access.action == "store"]
            assert store.index[0] == each.block * 96 + each.warp * 32
    assert found == {
        (None, 1): [(0, 1), (1, 1)],
        (1, None): [(1, 0), (1, 1), (1, 2)],
        (None, None): [(block, warp) for block in range(2) for warp in range(3)],
    }
    with pytest.raises(LaunchError, match=r"trace=\(None, None\) asks for 300 traces, more than 256.\n  Fix: pass"):
        launch(kernel, 300, 32, [a, b, c, 256], device="emulator", trace=(None, None))


def test_what_is_no_error_warns():
    source = 'extern "C" __global__ void half(float* y) { if (threadIdx.x < 3) y[threadIdx.x] = 1; }'
    kernel = compile(source, "half.cu").kernels["half"]
    with pytest.warns(KernelWarning, match=r"half\(float\* y\)\nunwritten: y\[3\] was never written: 5 of 8"):
        launch(kernel, 1, 8, [empty(8)], device="emulator")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = launch(kernel, 1, 8, [empty(8)], device="emulator", faults="record")
    assert [fault.severity for fault in run.faults] == ["warning"]


def test_a_sample_runs_some_blocks_and_marks_the_counters():
    a, b, c = arrays(1024)
    run = launch(compile(ADD, "add.cu").kernels["add"], 8, 128, [a, b, c, 1024], device="emulator", sample=3)
    done = (c == a + b).reshape(8, 128)
    assert done.all(axis=1).tolist() == [n in (1, 4, 6) for n in range(8)]
    assert run.counters.flop == 1024
    assert run.counters.sampled == (3, 8)


def test_a_pointer_may_be_local_or_global():
    source = """
    __device__ void fill(float* p, int n) { for (int j = 0; j < n; ++j) p[j] = j + 1; }
    extern "C" __global__ void k(float* y, int n) {
        float a[8] = {5, 5, 5, 5, 5, 5, 5, 5}; float* p = n > 3 ? a : y; fill(p, n); y[threadIdx.x + 4] = a[n & 7]; }"""
    kernel = compile(source).kernels["k"]
    for n, expected in ((8, [0, 0, 0, 0, 1, 1]), (3, [1, 2, 3, 0, 5, 5])):
        y = np.zeros(6, "f4")
        launch(kernel, 1, 2, [y, n], device="emulator")
        assert y.tolist() == expected


def test_half_precision():
    source = '#include <cuda_fp16.h>\nextern "C" __global__ void k(__half* y) { *y = __hfma(*y, *y, *y); }'
    y = np.full(1, 1.5, "f2")
    launch(compile(source).kernels["k"], 1, 1, [y], device="emulator")
    assert y[0] == 3.75
