from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from convlab.errors import KernelFault, KernelWarning, LaunchError
from convlab.executors import plans
from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.executors.run import Run
from convlab.kernels.method import Launch, Matmul, Plan

TWICE = """
__constant__ float weights[4];
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
extern "C" __global__ void tail(const float* x, float* y, int n) {
    int i = 4 + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
extern "C" __global__ void weighted(const float* v, float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = v[i] * weights[i % 2];
}
"""


@pytest.fixture(autouse=True)
def _source(monkeypatch):
    monkeypatch.setattr(Launch, "text", lambda self: TWICE)


def step(entry, arguments, **options):
    return Launch("twice.cu", entry, (1, 1, 1), (32, 1, 1), arguments, options=("-DFACTOR=2.0f",), **options)


def test_steps_follow_each_other_through_scratch_arrays_options_and_constants():
    constants = {"weights": ("w", 3, 5)}
    plan = Plan(
        (
            step("twice", ("x", "middle", np.int32(7))),
            step("weighted", ("middle", "y", np.int32(7)), constants=constants),
        ),
        scratch={"middle": ((7,), "float32")},
    )
    x, w, y = np.arange(7, dtype="f4"), np.arange(6, dtype="f4").reshape(2, 3), np.zeros(7, "f4")
    runs = run_plan(plan, {"x": x, "w": w, "y": y}, device="emulator")
    assert [run.kernel for run in runs] == ["twice", "weighted"]
    assert y.tolist() == (2 * x * np.array([3, 4, 3, 4, 3, 4, 3])).tolist()


def test_scratch_that_no_step_has_written_is_a_fault():
    plan = Plan((step("twice", ("middle", "y", 3)),), scratch={"middle": ((3,), "float32")})
    with pytest.raises(KernelFault, match="nobody has written"):
        run_plan(plan, {"y": np.zeros(3, "f4")}, device="emulator")


def test_a_step_may_leave_to_a_later_one_what_it_does_not_write():
    plan = Plan((step("twice", ("x", "y", 4)), step("tail", ("x", "y", 7))))
    y = empty(7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runs = run_plan(plan, {"x": np.ones(7, "f4"), "y": y}, device="emulator")
    assert [run.faults for run in runs] == [[], []]
    assert y.tolist() == [2.0] * 7


def test_what_no_step_writes_is_a_fault_of_the_last():
    plan = Plan((step("twice", ("x", "y", 2)), step("twice", ("x", "y", 3))))
    x = np.ones(7, "f4")
    first, last = run_plan(plan, {"x": x, "y": empty(7)}, device="emulator", faults="record")
    assert first.faults == []
    assert [fault.kind for fault in last.faults] == ["unwritten"]
    with pytest.warns(KernelWarning, match="4 of 7 elements were not"):
        run_plan(plan, {"x": x, "y": empty(7)}, device="emulator")


def test_axes_go_to_the_parameter_that_a_tensor_is_given_for():
    plan = Plan((step("twice", ("image", "y", 9)),))
    tensors = {"image": np.zeros((2, 4), "f4"), "y": np.zeros(9, "f4")}
    with pytest.raises(KernelFault, match=r"reads x\[h=2, w=0\]"):
        run_plan(plan, tensors, device="emulator", axes={"image": "hw"})


def test_cublas_is_on_a_gpu_only():
    plan = Plan((Matmul(("w", (2, 3)), ("x", (3, 4)), ("y", (2, 4))),))
    assert plan.launches == ()
    tensors = {"w": np.ones(6, "f4"), "x": np.ones(12, "f4"), "y": np.zeros(8, "f4")}
    with pytest.raises(
        LaunchError, match=r"cuBLAS multiplies matrices on a GPU only\.\n  Fix: use method='im2col_gemm'"
    ):
        run_plan(plan, tensors, device="emulator")


class Cupy:
    """A stand-in for CuPy: its arrays are NumPy's, marked by being copies."""

    def __init__(self):
        event = SimpleNamespace(record=lambda: None, synchronize=lambda: None, ptr=1)
        runtime = SimpleNamespace(eventQuery=lambda event: 0)
        self.cuda = SimpleNamespace(Event=lambda: event, get_elapsed_time=lambda start, end: 0.5, runtime=runtime)
        self.matmul, self.empty = np.matmul, np.empty
        self.copied = []

    def asarray(self, array):
        self.copied.append(array.shape)
        return np.array(array)

    asnumpy = asarray


def test_on_a_gpu_tensors_move_once_there_and_back(monkeypatch):
    launched, cupy = [], Cupy()

    def launch(kernel, grid, block, args, shared, device, **options):
        launched.append((kernel.name, device, args))
        args[1][:] = 2 * args[0]
        return Run(kernel.name, device, grid, block, milliseconds=0.25)

    monkeypatch.setattr(plans, "choose", lambda device: "cuda")
    monkeypatch.setattr(plans, "launch", launch)
    monkeypatch.setattr("convlab.executors.cuda.import_module", lambda name: cupy)
    steps = (step("twice", ("x", "middle", 4)), Matmul(("w", (2, 2)), ("middle", (2, 2)), ("y", (2, 2))))
    x, w, y = np.arange(4, dtype="f4"), np.array([[1, 2], [3, 4]], "f4"), np.zeros(4, "f4")
    w.flags.writeable = False
    runs = run_plan(Plan(steps, {"middle": ((4,), "float32")}), {"x": x, "w": w, "bias": None, "y": y}, "cuda")
    assert [(run.kernel, run.milliseconds) for run in runs] == [("twice", 0.25), ("cuBLAS", 0.5)]
    assert not np.shares_memory(launched[0][2][0], x)
    assert cupy.copied == [(4,), (2, 2), (4,), (4,)]  # x, w and y, and y back; nothing of the scratch
    assert y.tolist() == (w @ (2 * x.reshape(2, 2))).reshape(-1).tolist()


@pytest.mark.parametrize("deed", ["move the tensors to the GPU", "multiply matrices with cuBLAS"])
def test_what_a_gpu_cannot_do_is_said_with_the_way_out(monkeypatch, deed):
    cupy = Cupy()

    def full(*_, **__):
        raise RuntimeError("Out of memory allocating 17,179,869,184 bytes")

    setattr(cupy, "empty" if "tensors" in deed else "matmul", full)
    monkeypatch.setattr(plans, "choose", lambda device: "cuda")
    monkeypatch.setattr("convlab.executors.cuda.import_module", lambda name: cupy)
    plan = Plan((Matmul(("x", (2, 2)), ("x", (2, 2)), ("y", (2, 2))),), {"middle": ((4,), "float32")})
    with pytest.raises(LaunchError, match=rf"The GPU could not {deed}: Out of memory .*\n  Fix: use smaller arrays"):
        run_plan(plan, {"x": np.ones(4, "f4"), "y": np.zeros(4, "f4")}, "cuda")
