from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.cpu_gemm import BK, CPU_GEMM, DEPTH
from convlab.reference.register_tile import TM, TN

EDGES = sorted({1, 2, 3, TM - 1, TM, TM + 1, TN - 1, TN, TN + 1, BK - 1, BK, BK + 1, 2 * TN + 5, DEPTH, DEPTH + 1, 450})


def matrices(seed):
    """Two matrices of three different sizes, each at, beside or far beyond the edge of a tile."""
    rng = np.random.default_rng(seed)
    m, k, n = rng.choice(EDGES, 3, replace=False)
    return rng.uniform(-1, 1, (m, k)).astype("f4"), rng.uniform(-1, 1, (k, n)).astype("f4")


def assert_product(c, a, b):
    a, b = a.astype("f8"), b.astype("f8")
    allowed = a.shape[1] * np.finfo("f4").eps * (abs(a) @ abs(b))
    assert c.dtype == np.float32
    assert c.shape == (len(a), b.shape[1])
    assert (abs(c - a @ b) <= allowed).all()


def test_the_ladder_in_its_order():
    assert list(CPU_GEMM) == ["loops", "blocked", "packed", "vectorised", "parallel"]


@pytest.mark.parametrize("rung", CPU_GEMM)
@pytest.mark.parametrize("seed", range(64))
def test_every_rung_multiplies(rung, seed):
    a, b = matrices(seed)
    assert_product(CPU_GEMM[rung](a, b), a, b)


@pytest.mark.parametrize("rung", CPU_GEMM)
def test_one_number_times_one_number(rung):
    assert CPU_GEMM[rung](np.full((1, 1), 3, "f4"), np.full((1, 1), -2, "f4")) == -6


@pytest.mark.parametrize("rung", CPU_GEMM)
def test_views_are_taken_and_arguments_left_alone(rung):
    a, b = (matrix.T for matrix in matrices(7)[::-1])
    before = a.copy(), b.copy()
    assert_product(CPU_GEMM[rung](a, b), a, b)
    assert np.array_equal(a, before[0])
    assert np.array_equal(b, before[1])


def test_no_loop_leaves_its_arrays():
    """Compiled code would write there without a word; interpreted, each index is checked."""
    program = """
import numpy as np
from convlab.reference.cpu_gemm import CPU_GEMM
a, b = np.ones((8, 5), "f4"), np.ones((5, 34), "f4")
for rung in ("loops", "blocked", "packed"):
    assert (CPU_GEMM[rung](a, b) == 5).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})


@pytest.mark.parametrize("rung", CPU_GEMM)
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (
            np.zeros((2, 3), "f4"),
            np.zeros((4, 5), "f4"),
            "a has 3 columns, but b has 4 rows.\n"
            "  In: a · b, a is float32 of shape (2, 3), b is float32 of shape (4, 5)\n"
            "  Fix: Give a of shape (M, K) and b of shape (K, N).",
        ),
        (
            np.zeros((2, 3), "f4"),
            np.zeros((3, 5), "f8"),
            "b is float64 of shape (3, 5), not a float32 matrix with at least one element.\n"
            "  In: a · b, a is float32 of shape (2, 3), b is float64 of shape (3, 5)\n"
            "  Fix: Convert b with np.asarray(b, np.float32).",
        ),
    ],
)
def test_other_matrices_are_refused(rung, a, b, message):
    with pytest.raises(ArgumentError) as caught:
        CPU_GEMM[rung](a, b)
    assert str(caught.value) == message


@pytest.mark.parametrize("a", [np.zeros((0, 3), "f4"), np.zeros(3, "f4"), [[1.0, 2.0, 3.0]]])
def test_what_is_no_matrix_is_refused(a):
    with pytest.raises(ArgumentError, match=r"^a is .*, not a float32 matrix with at least one element"):
        CPU_GEMM["loops"](a, np.zeros((3, 5), "f4"))
