from __future__ import annotations

import nbformat
from nbclient import NotebookClient

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
