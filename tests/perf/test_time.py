"""Which kind of time is given where; each way of coming by one is tested with it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import convlab
from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.kernels.ladder import method, methods
from convlab.kernels.layers import LAYERS, supported
from convlab.kernels.ops import OPS
from convlab.perf import time as module
from convlab.perf.cpu_timing import processor
from convlab.perf.peers import Peers, peers
from convlab.perf.time import time
from convlab.perf.times import Time
from convlab.spec import ConvSpec, GemmSpec

SPEC = ConvSpec(n=1, c=3, h=8, w=7, k=4, r=3, s=2)
MEASURED = Time(0.1, "measured", "NVIDIA H200")
RECORDED = Time(0.2, "recorded", "NVIDIA A100")


@pytest.fixture(autouse=True)
def peers_elsewhere(monkeypatch):
    """No peer is here, whatever this machine has."""
    found = [replace(each, available=lambda: "It is not here.") for each in peers()]
    monkeypatch.setattr("convlab.perf.peers._PEERS", Peers(found))


@pytest.fixture
def peers_here(monkeypatch):
    """All peers are here, and what is measured says of which in which type."""
    found = [replace(each, available=str) for each in peers()]
    monkeypatch.setattr("convlab.perf.peers._PEERS", Peers(found))
    monkeypatch.setattr(module, "measure_peer", lambda who, spec, dtype: (replace(MEASURED, note=who.name + dtype), ""))


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


def test_where_the_gpu_lacks_the_instructions_a_recorded_time_is_the_answer(gpu, monkeypatch):
    spec = ConvSpec(n=1, c=16, h=6, w=5, k=16, r=3, s=3, padding=1)
    monkeypatch.setattr(module, "recorded", lambda spec, method, gpu: RECORDED)
    assert time(spec, "tensor_core_bf16") == RECORDED


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"method": "im2col", "device": "cuda"},
            LaunchError,
            "'im2col' runs on the CPU, not on a GPU.\n  Fix: leave the device out.",
        ),
        (
            {"device": "cpu"},
            LaunchError,
            "'naive' runs on a GPU, and this CPU cannot time it.\n"
            "  Fix: leave the device out, or time a method that runs on the CPU.",
        ),
        (
            {"method": "cudnn", "device": "cpu"},
            LaunchError,
            "'cudnn' runs on a GPU, and this CPU cannot time it.\n"
            "  Fix: leave the device out, or time a method that runs on the CPU.",
        ),
        (
            {"method": "numpy", "device": "cuda"},
            LaunchError,
            "'numpy' runs on the CPU, not on a GPU.\n  Fix: leave the device out.",
        ),
        (
            {"method": "auto", "dtype": "half"},
            ValueError,
            "dtype='half' is none of 'float32', 'float16', 'bfloat16', 'float64'.\n  Fix: name one of these.",
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


def test_a_reference_that_takes_any_type_is_timed_in_the_one_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(module, "measure_reference", lambda spec, record, dtype: replace(MEASURED, note=dtype))
    assert time(SPEC, "direct", dtype="float64").note == "float64"


@pytest.mark.parametrize("name", ["cudnn_nhwc", "numpy"])
def test_a_peer_that_is_here_is_measured(peers_here, name):
    assert time(SPEC, name) == replace(MEASURED, note=f"{name}float32")


def test_a_peer_is_measured_in_the_type_that_is_asked_for(peers_here):
    assert time(SPEC, "cudnn", dtype="float16").note == "cudnnfloat16"


def test_a_peer_of_the_gpu_that_is_not_here_has_its_recorded_time(no_gpu, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "recorded", lambda *arguments: asked.append(arguments) or RECORDED)
    assert time(SPEC, "cudnn", gpu="H200", dtype="float16") == RECORDED
    assert asked == [(SPEC, "cudnn", "H200", "float16")]


@pytest.mark.parametrize(
    ("name", "why"),
    [("cudnn", "It is not here."), ("im2col_cublas", "CuPy finds no NVIDIA GPU, or its driver is too old.")],
)
def test_where_there_is_no_time_of_any_kind_it_says_why_and_what_to_do(no_gpu, monkeypatch, name, why):
    monkeypatch.setattr(module, "recorded", lambda *_: None)
    with pytest.raises(LaunchError) as caught:
        time(SPEC, name)
    assert str(caught.value) == (
        f"There is no time of {name!r}: none is recorded on the A100, the model cannot count what another library "
        f"does, and it cannot be measured here: {why}\n"
        f"  In: {SPEC!r}\n"
        "  Fix: run this where there is an NVIDIA GPU, or name one with a recorded time; convlab bench lists them."
    )


def test_a_recorded_time_of_a_plan_with_cublas_is_an_answer(no_gpu, monkeypatch):
    monkeypatch.setattr(module, "recorded", lambda *_: RECORDED)
    assert time(SPEC, "im2col_cublas") == RECORDED


def test_a_peer_of_the_cpu_that_is_not_here_says_so(no_gpu):
    with pytest.raises(
        LaunchError, match=r"^PyTorch on the CPU cannot be timed here\. It is not here\.\n  Fix: install"
    ):
        time(SPEC, "torch_cpu")


def test_a_measurement_of_a_peer_without_a_gpu_says_why_there_is_none(no_gpu):
    with pytest.raises(
        LaunchError, match=r"^cuDNN through PyTorch, NCHW, no TF32 cannot be timed here\. It is not here"
    ):
        time(SPEC, "cudnn", device="cuda")


def test_a_peer_that_does_not_do_this_is_refused_with_those_that_do():
    with pytest.raises(
        ValueError, match=r"^Method 'cublas' does not do this: cublas computes gemm, not conv2d\."
    ) as caught:
        time(SPEC, "cublas")
    assert "cudnn" in str(caught.value).partition("Fix: use one of ")[2]


def test_auto_is_timed_as_what_it_picks_and_says_what_that_is(no_gpu):
    wide = ConvSpec(n=1, c=32, h=18, w=19, k=32, r=3, s=3)
    assert replace(time(wide, "winograd"), note="") == replace(time(wide, "auto"), note="")
    assert time(wide, "auto").note.startswith("winograd; waits for ")
    assert time(wide, "auto", dtype="float16").note.startswith("tensor_core_mma; ")


def smallest(op, name):
    """The layer with the least work among those that a method supports."""
    of_ladder = name in [each.name for each in methods(op)]
    layers = supported(method(name)) if of_ladder else LAYERS[op]
    return min(layers.values(), key=lambda spec: getattr(spec, "macs", 0))


def answer(op, name):
    """What somebody sees who asks for a time."""
    try:
        return repr(time(smallest(op, name), name))
    except LaunchError as error:
        return str(error)


@pytest.mark.parametrize("op", OPS)
def test_without_a_gpu_every_name_has_a_labelled_time_or_a_sentence_why_not(no_gpu, monkeypatch, op):
    monkeypatch.setattr(module, "measure_reference", lambda *_: MEASURED)
    others = {each.name for each in peers() if op in each.ops}
    answers = {name: answer(op, name) for name in ("auto", *(each.name for each in methods(op)), *others)}
    without = {name for name, said in answers.items() if not re.match(r"\S+ ms, (measured|recorded|modelled) ", said)}
    assert without == others | ({"im2col_cublas"} if op == "conv2d" else set())
    for name in without:
        assert re.search(r"(It is not here\.|CuPy finds no NVIDIA GPU.*)\n(.*\n)?  Fix: ", answers[name])


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
