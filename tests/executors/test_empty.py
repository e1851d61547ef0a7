from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import KernelFault
from convlab.executors.compile import compile
from convlab.executors.empty import empty, written
from convlab.executors.launch import launch

COPY = compile(
    """extern "C" __global__ void copy(const float* x, float* y, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            y[i] = x[i];
    }""",
    "copy.cu",
).kernels["copy"]


def copy(x, y, n, faults="raise"):
    return launch(COPY, 3, 32, [x, y, n], device="emulator", faults=faults).faults


@pytest.mark.parametrize(
    ("dtype", "is_poison"),
    [("f4", np.isnan), ("f2", np.isnan), ("f8", np.isnan), ("i4", lambda y: y == -1), ("u1", lambda y: y == 255)],
)
@pytest.mark.parametrize("shape", [(2, 3), 7, (), (4, 0)])
def test_nothing_in_it_could_be_taken_for_a_result(dtype, is_poison, shape):
    y = empty(shape, dtype)
    assert (y.shape, y.dtype) == (np.zeros(shape).shape, dtype)
    assert is_poison(y).all()
    flags, strict = written(y)
    assert (flags.size, flags.any(), strict) == (y.nbytes, False, True)


def test_float_is_the_default():
    assert empty(3).dtype == np.float32


def test_an_ordinary_array_has_no_flags():
    assert written(np.zeros(5, "f4")) == (None, False)
    assert written(np.full(5, -1, "i4")) == (None, False)
    assert written(np.array([np.nan, 1, np.nan], "f4")) == (None, False)
    assert written(np.zeros(0, "f4")) == (None, False)


def test_an_array_of_nothing_but_nan_has_flags_for_one_launch_and_may_be_read():
    flags, strict = written(np.full((3, 5), np.nan, "f2"))
    assert (flags.size, flags.any(), strict) == (30, False, False)


def test_what_one_launch_writes_the_next_may_read():
    x, y, z = np.arange(70, dtype="f4"), empty(70), empty(70)
    (missing,) = copy(x, y, 41, faults="record")
    assert missing.message == "y[41] was never written: 29 of 70 elements were not."
    reads, missing = copy(y, z, 70, faults="record")
    assert (reads.kind, reads.severity, reads.line, reads.count) == ("uninitialized", "error", 4, 29)
    assert reads.message == "reads x[41], which nobody has written yet."
    assert (missing.kind, missing.count) == ("unwritten", 29)  # of x, which this launch did not write either
    assert missing.message.startswith("x[41] was never written")
    assert copy(x, y, 70) == []
    assert copy(y, z, 70) == []


def test_slices_share_the_flags_with_the_whole():
    x, y, z = np.random.default_rng(0).random((2, 70)).astype("f4"), empty((2, 70)), np.zeros((2, 35), "f4")
    assert copy(x[1], y[1], 70) == []
    assert written(y)[0].reshape(2, 280).all(axis=1).tolist() == [False, True]
    assert copy(y[1], z[0], 35) == []
    assert copy(y.reshape(4, 35)[2], z[1], 35) == []
    with pytest.raises(KernelFault, match=r"reads x\[0\], which nobody has written yet"):
        copy(y[0], z[0], 35)
    copy(x[0, 10:], y[0, 10:], 60)
    assert copy(y.view("i4").view("f4")[0, 10:], z[0], 35) == []
    assert (y[0, 10:] == x[0, 10:]).all()
    assert np.isnan(y[0, :10]).all()


def test_a_strided_piece_and_a_copy_are_ordinary_arrays():
    y = empty((4, 6))
    for derived in (y[:, 2], y.T, y.copy(), y + 1, y[[1, 2]]):
        assert derived.flags_written is None
    assert written(y[1:3])[0].size == 48
    assert written(y[2])[0].size == 24


def test_what_numpy_assigns_is_written():
    y, x = empty((3, 4)), np.zeros(12, "f4")
    y[1] = 5
    y[2, 1::2] = [6, 7]
    y[0][3] = 8  # a slice that is assigned to
    y[np.arange(3) == 0, 0] = 9
    flags = written(y)[0].reshape(3, 4, 4)
    assert flags.all(axis=2).tolist() == [[True, False, False, True], [True] * 4, [False, True, False, True]]
    assert (flags.all(axis=2) == flags.any(axis=2)).all()
    y[...] = 3
    assert copy(y.reshape(-1), x, 12) == []
    assert (x == 3).all()


def test_a_field_that_is_assigned_leaves_no_false_alarm():
    y = empty(3, [("a", "f4"), ("b", "i4")])
    y["a"] = 1
    y["b"] = [2, 3, 4]
    assert y["b"].tolist() == [2, 3, 4]
    assert written(y)[0].all()
