"""cuDNN through a stand-in for PyTorch, with the GPU of CuPy's stand-in beside it."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from convlab.errors import ConvlabError, LaunchError
from convlab.executors import cuda
from convlab.executors.cuda_queue import Device
from convlab.perf.peers import cudnn, peer
from convlab.perf.peers.measure import measure_peer
from convlab.spec import ConvSpec, GemmSpec

from .torch_stand_in import Torch

SPEC = ConvSpec(n=2, c=4, h=7, w=6, k=6, r=3, s=2, stride=(2, 1), padding=(1, 1, 0, 0), dilation=(1, 2), groups=2)
SIZE = 4 * (2 * 4 * 7 * 6 + 6 * 2 * 3 * 2 + 2 * 6 * 4 * 4)


@pytest.fixture
def torch(monkeypatch):
    stand_in = Torch()
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    monkeypatch.setattr("convlab.perf.peers.adapter.find_spec", lambda name: name)
    monkeypatch.setattr(cuda, "why_not", lambda: "")
    device = Device("GPU of the test", 2 * SIZE, 1000.0, "0")
    monkeypatch.setattr(cudnn.cuda_queue, "device", lambda: device)
    return stand_in


@pytest.mark.parametrize(
    ("name", "form", "tf32"),
    [
        ("cudnn", "rows", False),
        ("cudnn_nhwc", "channels last", False),
        ("cudnn_tf32", "rows", True),
        ("cudnn_nhwc_tf32", "channels last", True),
    ],
)
def test_a_variant_has_its_layout_and_products_on_sets_that_take_turns(torch, name, form, tf32):
    torch.milliseconds = 4.0
    time, kernel = measure_peer(peer(name), SPEC)
    assert (time.milliseconds, time.kind, time.on) == (4.0, "measured", "GPU of the test")
    assert "20 repeats over 4 sets of buffers" in time.note
    assert "at most 1000 MHz" in time.note
    assert {call[1:] for call in torch.calls} == {("cuda", "float32", form, form, True, tf32)}
    assert len({call[0] for call in torch.calls}) == 4
    assert kernel == "implicit_convolve_sgemm + transform"
    assert torch.emptied == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_asked_of_pytorch(torch, dtype):
    measure_peer(peer("cudnn_nhwc"), SPEC, dtype)
    assert {call[2] for call in torch.calls} == {dtype}


def test_the_settings_of_the_user_come_back(torch):
    measure_peer(peer("cudnn_tf32"), SPEC)
    settings = torch.backends.cudnn
    assert (settings.benchmark, settings.allow_tf32) == ("the user's", "the user's")


def test_small_layers_go_into_a_graph(torch):
    torch.milliseconds = 2.0**-7
    time, _ = measure_peer(peer("cudnn"), SPEC)
    assert time.note.endswith("256 times in a CUDA graph; by implicit_convolve_sgemm + transform")
    assert time.milliseconds == 1 / 256


def test_a_wrong_output_is_not_timed(torch):
    torch.noise = 0.5
    with pytest.raises(ConvlabError, match=r"^cuDNN through PyTorch, NCHW, no TF32 is wrong in 96 of 96 elements"):
        measure_peer(peer("cudnn"), SPEC)
    assert len(torch.calls) == 1


def test_products_in_tf32_may_be_off_by_their_rounding(torch):
    torch.noise = 2e-3
    measure_peer(peer("cudnn_tf32"), SPEC)
    with pytest.raises(ConvlabError):
        measure_peer(peer("cudnn"), SPEC)


def test_what_pytorch_raises_is_said_with_the_sizes(torch, monkeypatch):
    def conv2d(*arguments, **options):
        raise RuntimeError("CUDA out of memory.\nTried to allocate 9 GB")

    torch.nn.functional.conv2d = conv2d
    with pytest.raises(LaunchError) as caught:
        measure_peer(peer("cudnn"), SPEC, "float16")
    assert str(caught.value) == (
        "cuDNN through PyTorch, NCHW, no TF32 fails in float16: CUDA out of memory.\n"
        f"  In: {SPEC!r}\n  Fix: use smaller sizes, or leave it out."
    )
    assert torch.emptied == 1


OWN = ", and may be PyTorch's own, not cuDNN's, as the convolution is depthwise"


@pytest.mark.parametrize(("spec", "own"), [(SPEC, ""), (replace(SPEC, groups=4, k=4), OWN)])
def test_where_the_profiler_fails_no_kernel_is_named_and_the_note_says_so(torch, spec, own):
    def profile(activities):
        raise RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")

    torch.profiler.profile = profile
    time, kernel = measure_peer(peer("cudnn"), spec)
    assert kernel == ""
    assert time.note.endswith(f"; its kernel could not be read{own}")


@pytest.mark.parametrize(
    ("spec", "dtype", "reason"),
    [
        (GemmSpec(2, 3, 4), "float32", "cudnn computes conv2d, not gemm."),
        (SPEC, "float64", "cudnn takes float32, float16, bfloat16, not float64."),
        (
            ConvSpec(n=1, c=1, h=4, w=4, k=1, r=2, s=2, padding=(0, 1, 0, 1)),
            "float32",
            "cudnn pads two sides alike, and the padding is (0, 1, 0, 1).",
        ),
    ],
)
def test_what_it_does_not_compute_is_refused(torch, spec, dtype, reason):
    with pytest.raises(ValueError, match="Fix: choose another") as caught:
        measure_peer(peer("cudnn"), spec, dtype)
    assert str(caught.value) == f"{reason}\n  In: {spec!r}\n  Fix: choose another of convlab.perf.peers.peers()."


def test_the_reasons_why_it_cannot_be_used(torch, monkeypatch):
    assert peer("cudnn").available() == ""
    torch.backends.cudnn.is_available = lambda: False
    assert peer("cudnn").available() == "This PyTorch has no cuDNN."
    torch.cuda.is_available = lambda: False
    assert peer("cudnn").available() == (
        "This PyTorch finds no NVIDIA GPU: it is built for the CPU, or for another driver."
    )
    monkeypatch.setattr(cuda, "why_not", lambda: "CuPy finds no NVIDIA GPU, or its driver is too old.")
    assert peer("cudnn").available() == "CuPy finds no NVIDIA GPU, or its driver is too old."
    monkeypatch.setattr("convlab.perf.peers.adapter.find_spec", lambda name: None)
    assert peer("cudnn").available() == "The package torch is not installed."


def test_the_output_comes_back_row_by_row(torch):
    y = peer("cudnn_nhwc").prepare(SPEC, "float16")()
    assert (y.shape, y.dtype) == (SPEC.output_shape, np.dtype("float16"))
