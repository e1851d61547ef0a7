"""Measuring a plan, with the emulator in the place of the GPU: what is queued really computes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import ConvlabError, KernelFault, LaunchError
from convlab.executors import cuda
from convlab.executors.cuda_queue import Device
from convlab.executors.launch import launch
from convlab.kernels.ladder import method
from convlab.kernels.method import Plan
from convlab.perf import timing
from convlab.perf.timing import measure, sets_of
from convlab.spec import ConvSpec, GemmSpec

SPEC = ConvSpec(n=2, c=3, h=7, w=6, k=4, r=3, s=2, stride=(2, 1), padding=1)


class Gpu:
    """A stand-in for `cuda_queue` whose arrays are NumPy's and whose launches run on the emulator, 0.5 ms each."""

    def __init__(self, l2_bytes=3000):
        self.l2_bytes, self.now, self.queued, self.made, self.uploaded, self.freed = l2_bytes, 0.0, [], [], [], 0
        self.done = set()

    def device(self):
        return Device("GPU of the test", self.l2_bytes, 1000.0, "0")

    def upload(self, array):
        self.uploaded.append(array.copy())
        return self.uploaded[-1]

    def allocate(self, shape, dtype):
        self.made.append((shape, dtype))
        return np.full(shape, np.nan, dtype)

    def download(self, array):
        return array.copy()

    def free(self):
        self.freed += 1

    def ready(self, kernel, grid, block, args, shared):
        def queue():
            key = kernel.entry, tuple(id(each) for each in args)
            if key not in self.done:  # the emulator need not compute the same again
                launch(kernel, grid, block, args, shared, device="emulator", observe=False)
            self.done.add(key)
            self.queued.append((kernel.entry, id(next(each for each in args if isinstance(each, np.ndarray)))))
            self.now += 0.5

        return queue

    def ready_matmul(self, *operands):
        a, b, out = (array.reshape(shape) for array, shape in operands)

        def queue():
            np.matmul(a, b, out=out)
            self.queued.append(("cuBLAS", id(operands[0][0])))
            self.now += 0.5

        return queue

    def mark(self):
        return self.now

    def wait(self, event):
        pass

    def between(self, start, end):
        return end - start


@pytest.fixture
def gpu(monkeypatch):
    stand_in = Gpu()
    monkeypatch.setattr(timing, "cuda_queue", stand_in)
    monkeypatch.setattr(cuda, "_lost", [])
    monkeypatch.setattr(cuda, "available", lambda: True)
    monkeypatch.setattr(cuda, "capability", lambda: 80)
    return stand_in


def test_without_a_gpu_it_says_why_and_what_to_do(monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: False)
    with pytest.raises(
        LaunchError, match=r"^Nothing can be measured here, since no GPU can be used: .*\n  In: 'naive' on"
    ):
        measure(SPEC, method("naive"))


def test_a_gpu_that_lacks_the_instructions_measures_nothing(gpu, monkeypatch):
    monkeypatch.setattr(cuda, "capability", lambda: 75)
    with pytest.raises(LaunchError) as caught:
        measure(ConvSpec(n=1, c=16, h=6, w=5, k=16, r=3, s=3), method("tensor_core_bf16"))
    assert str(caught.value) == (
        "'tensor_core_bf16' needs a GPU of compute capability 8.0 or newer, and this one has 7.5.\n"
        "  Fix: leave the device out for a recorded or modelled time."
    )


def test_a_plan_is_checked_and_timed_over_sets_that_fill_twice_the_l2(gpu):
    time = measure(SPEC, method("naive"))
    assert (time.milliseconds, time.kind, time.on, time.low, time.high) == (
        0.5,
        "measured",
        "GPU of the test",
        0.5,
        0.5,
    )
    size = 4 * (2 * 3 * 7 * 6 + 4 * 3 * 3 * 2 + 2 * 4 * 4 * 7)
    sets = -(-6000 // size)
    assert sets == 3
    assert len({first for _, first in gpu.queued}) == sets
    assert len(gpu.uploaded) == 2 * sets  # x and w, no bias
    assert gpu.made == [((2, 4, 4, 7), "float32")] * sets
    assert "20 repeats over 3 sets of buffers" in time.note
    assert "at most 1000 MHz" in time.note
    assert "fill L2" not in time.note
    assert gpu.freed == 1


def test_all_steps_of_a_plan_count_with_scratch_on_the_gpu(gpu):
    time = measure(SPEC, method("im2col_gemm"))
    plan = method("im2col_gemm").plan(SPEC)
    assert len(plan.steps) > 1
    assert time.milliseconds == 0.5 * len(plan.steps)
    assert set(gpu.made) == {((2, 4, 4, 7), "float32"), *plan.scratch.values()}


def test_cublas_is_a_step_like_others(gpu):
    time = measure(SPEC, method("im2col_cublas"))
    assert "cuBLAS" in {name for name, _ in gpu.queued}
    assert time.milliseconds == 1.5


def test_constants_are_written_before_the_kernel_is_ready(gpu):
    assert measure(SPEC, method("constant_weights")).milliseconds > 0


def test_a_method_gets_its_own_layout_and_types(gpu):
    spec = ConvSpec(n=2, c=8, h=6, w=5, k=8, r=3, s=3, padding=1)
    measure(spec, method("tensor_core"))
    op_layout, dtype = method("tensor_core").layout, method("tensor_core").dtype
    assert gpu.uploaded[0].dtype == dtype
    assert gpu.uploaded[0].shape == ((2, 6, 5, 8) if op_layout == "nhwc" else (2, 8, 6, 5))


def test_products_in_tf32_may_be_off_by_their_rounding(gpu):
    spec = ConvSpec(n=2, c=8, h=6, w=5, k=8, r=3, s=3, padding=1)
    assert measure(spec, method("tensor_core_tf32")).milliseconds > 0


def test_a_wrong_result_is_not_timed(gpu, monkeypatch):
    ready = gpu.ready

    def spoiled(kernel, grid, block, args, shared):
        queue = ready(kernel, grid, block, args, shared)

        def wrong():
            queue()
            args[3][-1, -1, -1, -1] += 1

        return wrong

    monkeypatch.setattr(gpu, "ready", spoiled)
    with pytest.raises(
        ConvlabError, match=r"^Method 'naive' is wrong in 1 of 112 elements: \[0, 3, 3, 6\] of the piece"
    ):
        measure(SPEC, method("naive"))
    assert len(gpu.queued) == 1


def test_an_expected_output_replaces_the_oracle(gpu):
    with pytest.raises(ConvlabError, match="of the result is"):
        measure(SPEC, method("naive"), expected=np.zeros(SPEC.output_shape, "f4"))


def test_what_the_gpu_says_names_the_kernel(gpu, monkeypatch):
    def wait(event):
        raise RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")

    monkeypatch.setattr(gpu, "wait", wait)
    with pytest.raises(KernelFault, match="On the GPU, conv_naive read or wrote outside of its arrays"):
        measure(SPEC, method("naive"))
    with pytest.raises(LaunchError, match=r"^The GPU cannot be used any more: conv_naive read or wrote"):
        measure(SPEC, method("naive"))


def test_of_several_steps_the_one_that_went_wrong_is_named(gpu, monkeypatch):
    waits = iter([None, RuntimeError("cudaErrorIllegalAddress: an illegal memory access was encountered")])

    def wait(event):
        error = next(waits)
        if error:
            raise error

    monkeypatch.setattr(gpu, "wait", wait)
    with pytest.raises(KernelFault, match="On the GPU, gemm_"):
        measure(SPEC, method("im2col_gemm"))


def test_too_little_memory_says_what_to_do(gpu, monkeypatch):
    def upload(array):
        raise MemoryError("Out of memory allocating 9,000 bytes")

    monkeypatch.setattr(gpu, "upload", upload)
    with pytest.raises(LaunchError, match=r"Fix: use smaller arrays, or free other programs' memory on the GPU\.$"):
        measure(SPEC, method("naive"))


def test_a_note_says_where_the_most_sets_do_not_fill_the_l2(gpu, monkeypatch):
    monkeypatch.setattr(timing, "MOST_SETS", 2)
    assert measure(GemmSpec(3, 5, 4), method("gemm_naive")).note.endswith(
        "; 2 sets are the most, and do not fill L2 twice"
    )
    assert sets_of(1, 1000) == 2


def test_steps_share_modules_but_for_their_constants():
    (step,) = method("constant_weights").plan(SPEC).steps
    weights = np.arange(72, dtype="f4")
    other = replace(step, constants={"weights": ("w", 40, 50)})
    compiled = timing._compiled(Plan((step, step, other)), {"x": None, "w": weights.reshape(4, 3, 3, 2)})
    first, same, second = (each.kernel.module for each in compiled)
    assert first is same
    assert first is not second
    (variable,) = second.program.in_global_memory()
    assert variable.data.view("f4")[:10].tolist() == weights[40:50].tolist()
    assert first.written == second.written == {"weights"}
