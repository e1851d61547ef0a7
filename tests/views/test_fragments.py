"""Who holds what, against the formulas of the PTX ISA, and against a product that the emulator computes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from convlab.emulator.fragments import SHAPES, dimensions
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.views import View
from convlab.views.fragments import TYPES, fragments

ALL = [
    (instruction, shape, dtype)
    for instruction in ("mma", "wmma")
    for dtype, (kind, *_) in TYPES.items()
    for shape in SHAPES[instruction].get(kind, ())
]
Formula = Callable[[int, int, int], tuple[int, int]]  # g, t, i to row and column

# The formulas of the PTX ISA, g = lane / 4, t = lane % 4: of A, B and D.
FORMULAS: dict[tuple[str, str], dict[str, tuple[int, Formula]]] = {
    ("m16n8k16", "float16"): {
        "A": (8, lambda g, t, i: (g + 8 * ((i >> 1) & 1), 2 * t + (i & 1) + 8 * (i >> 2))),
        "B": (4, lambda g, t, i: (2 * t + (i & 1) + 8 * (i >> 1), g)),
        "D": (4, lambda g, t, i: (g + 8 * (i >> 1), 2 * t + (i & 1))),
    },
    ("m16n8k8", "tf32"): {
        "A": (4, lambda g, t, i: (g + 8 * (i & 1), t + 4 * (i >> 1))),
        "B": (2, lambda g, t, i: (t + 4 * i, g)),
        "D": (4, lambda g, t, i: (g + 8 * (i >> 1), 2 * t + (i & 1))),
    },
}
FORMULAS["m16n8k16", "bfloat16"] = FORMULAS["m16n8k16", "float16"]


def holders(view: View, matrix: str) -> dict[tuple[int, int], tuple[int, str]]:
    """Read back from the words of a panel's cells: row and column to lane and register."""
    panel = next(panel for panel in view.panels if panel.name == matrix)
    found = (re.fullmatch(r"\w\[\w=(\d+), \w=(\d+)\]: lane (\d+), (.+)", label) for label in panel.labels)
    return {(int(each[1]), int(each[2])): (int(each[3]), each[4]) for each in found if each}


@pytest.mark.parametrize(("shape", "dtype"), FORMULAS)
def test_the_map_is_that_of_the_ptx_isa(shape: str, dtype: str) -> None:
    view = fragments(shape, dtype)
    for matrix, (count, formula) in FORMULAS[shape, dtype].items():
        per = 1 if dtype == "tf32" or matrix == "D" else 2
        expected = {}
        for lane in range(32):
            for i in range(count):
                half = ("", "") if per == 1 else (", low half", ", high half")
                where = f"register {matrix.lower()}{i // per}{half[i % per]}"
                expected[formula(lane >> 2, lane & 3, i)] = (lane, where)
        assert holders(view, matrix) == expected


@pytest.mark.parametrize(("instruction", "shape", "dtype"), ALL, ids=" ".join)
def test_links_are_rows_columns_and_lanes(instruction: str, shape: str, dtype: str) -> None:
    view = fragments(shape, dtype, instruction)  # type: ignore[arg-type]
    m, n, k = dimensions(shape)
    if shape == "m8n8k4" and dtype == "float16":
        assert view.captions[-1].startswith("Four products at once")
    assert [(panel.rows, panel.cols) for panel in view.panels[:3]] == [(m, k), (k, n), (m, n)]
    ids = view.ids
    owners = {name: holders(view, name) for name in "ABD"}
    for row, col in ((0, 0), (m - 1, n - 1), (m // 2, n // 2 - 1)):
        lane = owners["D"][row, col][0]
        expected = {*ids["A"][row].tolist(), *ids["B"][:, col].tolist(), int(ids["lanes"][0, lane])}
        assert {*view.linked(int(ids["D"][row, col]))} == expected
    for lane in (0, 17, 31):
        mine = {int(ids[name][place]) for name in "ABD" for place, (who, _) in owners[name].items() if who == lane}
        assert {*view.linked(int(ids["lanes"][0, lane]))} == mine
        assert {*fragments(shape, dtype, instruction, lane=lane).frames[0].lit} == mine  # type: ignore[arg-type]
    for matrix in "ABD":
        panel = next(panel for panel in view.panels if panel.name == matrix)
        assert panel.values == [str(owners[matrix][place][0]) for place in np.ndindex(panel.rows, panel.cols)]


def test_the_steps_go_along_k() -> None:
    view = fragments("m16n8k8", "tf32", lane=2)
    assert len(view.frames) == 1 + 8
    assert view.frames[0].caption.startswith("One instruction, 16 · 8 · 8 = 1024 multiply-adds")
    ids = view.ids
    for k, frame in enumerate(view.frames[1:]):
        assert {*frame.lit} == {*ids["A"][:, k].tolist(), *ids["B"][k].tolist(), *ids["D"].ravel().tolist()}
        assert frame.caption == f"k = {k}: column {k} of A times row {k} of B, 16 · 8 = 128 products, one for each sum."


MMA = r"""
extern "C" __global__ void product(const unsigned* a, const unsigned* b, float* d) {
    int lane = threadIdx.x;
    const unsigned *x = a + 4 * lane, *y = b + 2 * lane;
    float* z = d + 4 * lane;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
}
"""
WMMA = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const half* a, const half* b, float* d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 0.0f);
    for (int i = 0; i < 16; ++i) {
        x.x[i] = a[16 * threadIdx.x + i];
        y.x[i] = b[16 * threadIdx.x + i];
    }
    wmma::mma_sync(z, x, y, z);
    for (int i = 0; i < 8; ++i) d[8 * threadIdx.x + i] = z.x[i];
}
"""


def numbers(where: str) -> list[int]:
    """Which numbers of a lane's elements the words name: of x, or of 16-bit halves, or of whole registers."""
    if "x[" in where:
        return [int(number) for number in re.findall(r"x\[(\d+)\]", where)]
    register = int(re.search(r"\d+", where)[0])  # type: ignore[index]
    return [2 * register + ("high" in where) if "half" in where else register]


def dealt(view: View, matrix: str, values: npt.NDArray[np.float16], count: int) -> npt.NDArray[np.float16]:
    """Put a matrix where the picture says that its elements lie, of shape (32, count)."""
    lanes = np.full((32, count), np.nan, np.float16)
    for place, (lane, where) in holders(view, matrix).items():
        lanes[lane, numbers(where)] = values[place]
    return lanes


@pytest.mark.parametrize(
    ("instruction", "source", "shape", "counts"),
    [("mma", MMA, "m16n8k16", (8, 4, 4)), ("wmma", WMMA, "m16n16k16", (16, 16, 8))],
    ids=["mma", "wmma"],
)
def test_the_emulator_multiplies_what_lies_where_the_picture_says(
    instruction: str, source: str, shape: str, counts: tuple[int, int, int]
) -> None:
    view = fragments(shape, "float16", instruction)  # type: ignore[arg-type]
    m, n, k = dimensions(shape)
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 10, size).astype(np.float16) for size in ((m, k), (k, n)))
    d = np.zeros((32, counts[2]), np.float32)
    x, y = dealt(view, "A", a, counts[0]), dealt(view, "B", b, counts[1])
    if instruction == "mma":
        x, y = x.view(np.uint32), y.view(np.uint32)
    run = launch(
        compile(source).kernels["product"], grid=1, block=32, args=(x, y, d), device="emulator", faults="record"
    )
    assert run.faults == []
    found = {place: d[lane, numbers(where)[0]] for place, (lane, where) in holders(view, "D").items()}
    expected = a.astype(int) @ b.astype(int)
    assert found == {place: expected[place] for place in np.ndindex(m, n)}


def test_the_words_say_what_is_drawn() -> None:
    view = fragments()
    assert view.title == "mma.sync m16n8k16: D = A · B + C by one warp, FP16 factors, FP32 sums"
    assert view.captions[0] == (
        "Lane 5: a0 = A[1, 2], A[1, 3]; a1 = A[9, 2], A[9, 3]; a2 = A[1, 10], A[1, 11]; a3 = A[9, 10], A[9, 11]; "
        "b0 = B[2, 1], B[3, 1]; b1 = B[10, 1], B[11, 1]; d0 = D[1, 2]; d1 = D[1, 3]; d2 = D[9, 2]; d3 = D[9, 3]."
    )
    assert view.panels[3].labels[5] == "lane 5: 8 of A, 4 of B, 4 of D"
    assert all(text in view.alt for text in (view.title, *view.captions))
    open_layout = fragments("m16n16k16", "float16", "wmma")
    assert "this is the emulator's choice" in open_layout.captions[1]
    assert open_layout.panels[0].labels[0] == "A[m=0, k=0]: lane 0, x[0] and x[8]"
    assert open_layout.captions[2].startswith("Each element of A and B is held twice")
    assert len(fragments("m16n16k8", "tf32", "wmma").captions) == 2
    volta = fragments("m8n8k4", "float16", lane=5)
    assert volta.frames[0].caption.startswith("One instruction, 4 · 8 · 8 · 4 = 1024 multiply-adds")
    assert volta.captions[0] == "Lane 5 works on another product."
    assert volta.panels[3].kinds.count("idle") == 24


@pytest.mark.parametrize(
    ("wrong", "fact", "fix"),
    [
        ({"shape": "m16n8k4"}, "The emulator has no mma m16n8k4 of float16.", "m16n8k4 of tf32"),
        ({"dtype": "float32"}, "The emulator has no mma m16n8k16 of float32.", "m16n8k16 of bfloat16"),
        ({"instruction": "wgmma"}, "The emulator has no wgmma m16n8k16 of float16.", "Choose 'mma' or 'wmma'."),
        ({"lane": 32}, "lane=32 is not there.", "A warp has the lanes 0 to 31."),
    ],
)
def test_what_is_not_there_is_refused(wrong: dict[str, object], fact: str, fix: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)) as error:
        fragments(**wrong)  # type: ignore[arg-type]
    given = {"shape": "m16n8k16", "dtype": "float16", "instruction": "mma", "lane": 5} | wrong
    call = "views.fragments({shape!r}, {dtype!r}, instruction={instruction!r}, lane={lane!r})".format(**given)
    assert f"In: {call}" in str(error.value)
    assert fix in str(error.value)
