"""Which kind of time is given where; each way of coming by one is tested with it."""

from __future__ import annotations

import numpy as np
import pytest

import convlab
from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.perf import time as module
from convlab.perf.cpu_timing import processor
from convlab.perf.time import time
from convlab.perf.times import Time
from convlab.spec import ConvSpec, GemmSpec

SPEC = ConvSpec(n=1, c=3, h=8, w=7, k=4, r=3, s=2)
MEASURED = Time(0.1, "measured", "NVIDIA H200")
RECORDED = Time(0.2, "recorded", "NVIDIA A100")


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: True)
    monkeypatch.setattr(cuda, "capability", lambda: 75)
    monkeypatch.setattr(module, "measure", lambda spec, method: (MEASURED, spec, method.name))


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(cuda, "available", lambda: False)
    monkeypatch.setattr(cuda, "why_not", lambda: "CuPy finds no NVIDIA GPU, or its driver is too old.")


def test_where_a_gpu_is_at_hand_a_kernel_is_measured(gpu):
    assert time(SPEC) == time(SPEC, device="cuda") == (MEASURED, SPEC, "naive")


def test_where_none_is_a_recorded_time_comes_before_a_modelled_one(no_gpu, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "recorded", lambda *arguments: asked.append(arguments) or RECORDED)
    assert time(SPEC, "tiled", gpu="H200") == RECORDED
    assert asked == [(SPEC, "tiled", "H200")]
    monkeypatch.setattr(module, "recorded", lambda spec, method, gpu: None)
    modelled = time(SPEC, "tiled", gpu="H200")
    assert (modelled.kind, modelled.on) == ("modelled", "H200")
    assert modelled.milliseconds > 0


def test_the_model_is_that_of_an_a100_where_nobody_says_another(no_gpu):
    assert time(SPEC).on == "A100"


def test_a_reference_is_measured_on_this_cpu_with_a_gpu_or_without(gpu):
    measured = time(SPEC, "im2col")
    assert (measured.kind, measured.on) == ("measured", processor())
    assert time(SPEC, "im2col", device="cpu").on == processor()


def test_a_measurement_without_a_gpu_says_why_there_is_none_and_what_to_do(no_gpu):
    with pytest.raises(LaunchError) as caught:
        time(SPEC, device="cuda")
    assert str(caught.value) == (
        "Nothing can be measured here, since no GPU can be used: CuPy finds no NVIDIA GPU, or its driver is too old.\n"
        f"  In: 'naive' on {SPEC!r}\n"
        "  Fix: leave the device out for a recorded or modelled time, or run this where there is an NVIDIA GPU."
    )


def test_a_gpu_that_lacks_the_instructions_measures_nothing(gpu, monkeypatch):
    spec = ConvSpec(n=1, c=16, h=6, w=5, k=16, r=3, s=3, padding=1)
    monkeypatch.setattr(module, "recorded", lambda spec, method, gpu: RECORDED)
    assert time(spec, "tensor_core_bf16") == RECORDED
    with pytest.raises(LaunchError) as caught:
        time(spec, "tensor_core_bf16", device="cuda")
    assert str(caught.value) == (
        "'tensor_core_bf16' needs a GPU of compute capability 8.0 or newer, and this one has 7.5.\n"
        "  Fix: leave the device out for a recorded or modelled time."
    )


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"method": "im2col", "device": "cuda"},
            LaunchError,
            "'im2col' is a reference method: it runs on the CPU, not on a GPU.\n  Fix: leave the device out.",
        ),
        (
            {"device": "cpu"},
            LaunchError,
            "'naive' is a kernel, which this CPU cannot time.\n  Fix: leave the device out, or time a reference.",
        ),
        (
            {"device": "emulator"},
            ValueError,
            "device='emulator' is none of 'auto', 'cuda', 'cpu'.\n"
            "  Fix: leave it out, or insist on a GPU with 'cuda'; the emulator's own speed says nothing about one.",
        ),
    ],
)
def test_a_device_that_does_not_fit_the_method_is_refused(gpu, arguments, error, text):
    with pytest.raises(error) as caught:
        time(SPEC, **arguments)
    assert str(caught.value) == text


def test_a_method_that_does_not_do_this_is_refused_with_those_that_do():
    with pytest.raises(ValueError, match="does not do this") as caught:
        time(GemmSpec(2, 3, 4), "naive")
    text = str(caught.value)
    assert text.startswith(
        "Method 'naive' does not do this: It computes conv2d, whose sizes are a ConvSpec, and this is"
    )
    assert "\n  In: GemmSpec(gemm_m=2, gemm_n=3, gemm_k=4)\n  Fix: use one of blas," in text


@pytest.mark.parametrize(
    "spec", [(1, 64, 56, 56), None, "1,64,56,56", np.ones((1, 3, 8, 7))], ids=lambda spec: type(spec).__name__
)
def test_something_else_than_a_spec_is_refused_with_an_example(spec):
    with pytest.raises(ValueError, match=rf"^spec is of type {type(spec).__name__}, none of ConvSpec, ") as caught:
        time(spec)
    fix = str(caught.value).partition("such as ")[2].removesuffix(".")
    assert eval(fix, {"cl": convlab}) == ConvSpec(1, 64, 56, 56, 64, 3, 3, padding=1)


def test_a_model_that_lacks_the_instructions_is_refused_before_anything_is_counted(no_gpu, monkeypatch):
    monkeypatch.setattr(module, "work", None)
    spec = ConvSpec(n=1, c=16, h=6, w=5, k=16, r=3, s=3, padding=1)
    with pytest.raises(
        ValueError, match=r"needs instructions of compute capability 8\.0, and the T4 has 7\.5\.\n  Fix:"
    ):
        time(spec, "tensor_core_tf32", gpu="T4")


def test_an_unknown_model_of_a_gpu_is_refused(no_gpu):
    with pytest.raises(ValueError, match="There is no GPU 'A1000' in the table"):
        time(SPEC, gpu="A1000")


def test_it_has_a_public_name():
    assert convlab.time is time
