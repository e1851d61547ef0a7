"""The columns of the table of lines, and how a run shows itself."""

from __future__ import annotations

import numpy as np

from convlab.executors.columns import columns
from convlab.executors.compile import compile
from convlab.executors.launch import launch

TRANSPOSE = """extern "C" __global__ void transpose(const float* x, float* y) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def run(source, name, *arrays, **options):
    return launch(compile(source, "t.cu").kernels[name], 1, (32, 32), arrays, device="emulator", **options)


def test_shared_memory_has_columns_of_its_own_where_it_is_used():
    x = np.random.default_rng(5).random((32, 32), np.float32)
    y = np.zeros_like(x)
    result = run(TRANSPOSE, "transpose", x, y)
    assert (y == x.T).all()
    lines = {line: counters for line, _, counters in result.listing()}
    found = columns([lines[3], lines[5]])
    assert found["sectors"] == ["128", "128"]
    assert found["wavefronts"] == ["32", "1,024"]
    assert found["conflicts"] == ["", "992"]
    html = result._repr_html_()
    assert ">wavefronts</th>" in html
    assert "<td>992</td>" in html


def test_columns_without_an_entry_are_left_out():
    source = 'extern "C" __global__ void one(float* y) { y[threadIdx.y * 32 + threadIdx.x] = 1; }'
    result = run(source, "one", np.zeros((32, 32), np.float32))
    assert list(columns([result.counters])) == ["instructions", "lanes", "sectors", "per request"]
    html = result._repr_html_()
    assert "conflicts" not in html
    assert "padding-left:3ch;text-indent:-2ch'>extern &quot;C&quot;" in html


def test_an_indented_line_goes_on_further_in():
    source = 'extern "C" __global__ void one(float* y) {\n\t  y[threadIdx.x] = 1;\n}'
    html = run(source, "one", np.zeros((32, 32), np.float32))._repr_html_()
    assert "padding-left:9ch;text-indent:-2ch'>y[threadIdx.x]" in html


def test_faults_come_first_with_their_line_and_what_they_mean():
    source = 'extern "C" __global__ void past(float* y) {\n    y[threadIdx.y * 32 + threadIdx.x + 1] = 1;\n}'
    result = run(source, "past", np.zeros((32, 32), np.float32), faults="record")
    html = result._repr_html_()
    assert "<b>error:</b> t.cu:2: out of bounds: block (0, 0, 0), thread (31, 31, 0) writes y[1024]" in html
    assert "<br><code>y[threadIdx.y * 32 + threadIdx.x + 1] = 1;</code>" in html
    assert html.index("out of bounds") < html.index("On a GPU this reads or destroys") < html.index("<pre>")
    assert repr(result).index("Faults:") < repr(result).index("thread_instructions")


def test_modelled_traffic_is_shown_when_it_was_asked_for():
    x = np.zeros((32, 32), np.float32)
    assert run(TRANSPOSE, "transpose", x, x.copy()).traffic is None
    result = run(TRANSPOSE, "transpose", x, x.copy(), caches=True)
    assert result.traffic.dram_read_bytes == x.nbytes
    assert "modelled (not measured) for A100" in repr(result)
