from __future__ import annotations

import time

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

from convlab.emulator import Fault
from convlab.errors import KernelFault
from convlab.executors.run import Run

SOURCE = """import convlab as cl
import numpy as np
kernel = cl.compile('extern "C" __global__ void f(float* x) { x[9] = 1; }', name="mine.cu").kernels["f"]


def go(x):
    return cl.launch(kernel, 1, 1, [x], device="emulator")


go(np.zeros(4, "f4"))
"""


def test_a_notebook_shows_the_learners_line_and_the_message_and_nothing_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE)])
    NotebookClient(book, timeout=60, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (error,) = (output for output in book.cells[0].outputs if output.output_type == "error")
    assert error.ename == "KernelFault"
    first, second = error.traceback
    assert first == 'In line 7 of the cell: return cl.launch(kernel, 1, 1, [x], device="emulator")'
    assert second.startswith(
        "KernelFault: f(float* x)\nmine.cu:1: out of bounds: block (0, 0, 0), thread (0, 0, 0) writes x[9]"
    )


def test_a_fault_has_one_line_also_where_the_gpu_recorded_none():
    run = Run("f", "cuda", (1, 1, 1), (1, 1, 1))
    assert KernelFault("f(float* x)\nan illegal access", run).fact == "f(float* x)\nan illegal access"
    fault = Fault("trap", "error", "", "a.cu", 3, (), (0, 0, 0), (1, 0, 0), "stopped.")
    run = Run("f", "emulator", (1, 1, 1), (1, 1, 1), faults=[fault])
    assert KernelFault("much text", run).fact == "a.cu:3: trap: block (0, 0, 0), thread (1, 0, 0) stopped."


SPIN = """
import numpy as np
import convlab as cl
source = 'extern "C" __global__ void spin(int* x, int n) { for (int i = 0; i < n; ++i) x[i % 7] += i / (x[0] + 1); }'
kernel = cl.compile(source).kernels["spin"]
print("begun", flush=True)
cl.launch(kernel, 64, 256, [np.ones(256, "i4"), 1 << 30], device="emulator", budget=1 << 60)
"""
# 2^30 instances of a template: more than anybody waits for
BOMB = """template <int D, int I> struct T { enum { v = T<D - 1, 2 * I>::v + T<D - 1, 2 * I + 1>::v }; };
template <int I> struct T<0, I> { enum { v = I & 1 }; };
extern "C" __global__ void bomb(int* x) { *x = T<30, 0>::v; }
"""
COMPILE = f"from convlab import compile\nprint('begun', flush=True)\ncompile({BOMB!r})"


@pytest.mark.parametrize("source", [SPIN, COMPILE], ids=["emulating", "compiling"])
def test_the_stop_button_ends_a_cell_and_the_kernel_goes_on(source, monkeypatch):
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        ask = client.execute(source, stop_on_error=False)  # or a cell that follows at once is aborted with this one
        while client.get_iopub_msg(timeout=60)["content"].get("text") != "begun\n":
            pass
        time.sleep(0.5)
        manager.interrupt_kernel()
        start = time.perf_counter()
        while (reply := client.get_shell_msg(timeout=20))["parent_header"]["msg_id"] != ask:
            pass
        print(f"stopped after {time.perf_counter() - start:.3f} s")
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        assert client.execute_interactive("1 + 1", timeout=20)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
