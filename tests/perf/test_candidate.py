"""Names: of methods, of peers, and "auto"."""

from __future__ import annotations

import pytest

from convlab.executors import cuda
from convlab.kernels.ladder import method, methods
from convlab.perf.candidate import candidate, refusal
from convlab.perf.gpus import gpu
from convlab.perf.peers import peer, peers
from convlab.spec import ConvSpec, GemmSpec, LayoutSpec

SPEC = ConvSpec(n=2, c=32, h=12, w=11, k=33, r=3, s=3)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "available", lambda: False)


def test_no_peer_has_the_name_of_a_method() -> None:
    assert {each.name for each in peers()}.isdisjoint({"auto", *(each.name for each in methods())})


def test_a_name_is_a_methods_or_a_peers() -> None:
    assert candidate("tiled", SPEC, "auto", gpu("A100"), "float32") is method("tiled")
    assert candidate("cudnn_nhwc", SPEC, "auto", gpu("A100"), "float16") is peer("cudnn_nhwc")


@pytest.mark.parametrize(
    ("spec", "device", "name", "dtype", "picked"),
    [
        (SPEC, "auto", "A100", "float32", "winograd"),
        (SPEC, "cpu", "A100", "float32", "direct"),
        (SPEC, "auto", "A100", "bfloat16", "tensor_core_bf16"),
        (SPEC, "auto", "T4", "bfloat16", "direct"),  # a T4 lacks the instructions
        (GemmSpec(15, 6, 7), "cuda", "A100", "float32", "gemm_warp"),
        (LayoutSpec(n=1, c=5, h=4, w=3), "auto", "A100", "float16", "layout_transform_half"),
    ],
)
def test_auto_picks_for_the_type_the_device_and_the_gpu(spec, device, name, dtype, picked) -> None:
    assert candidate("auto", spec, device, gpu(name), dtype).name == picked


def test_auto_goes_by_the_gpu_at_hand_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "available", lambda: True)
    monkeypatch.setattr(cuda, "capability", lambda: 75)
    assert candidate("auto", SPEC, "auto", gpu("A100"), "bfloat16").name == "direct"


@pytest.mark.parametrize(("name", "near"), [("naiv", "naive"), ("cudn", "cudnn")])
def test_an_unknown_name_is_guessed_among_methods_and_peers(name: str, near: str) -> None:
    with pytest.raises(ValueError, match="There is no method") as caught:
        candidate(name, SPEC, "auto", gpu("A100"), "float32")
    assert str(caught.value) == (
        f"There is no method {name!r}. Did you mean {near!r}?\n"
        "  Fix: give a name of cl.methods() or of convlab.perf.peers.peers(), or 'auto'."
    )


def test_a_peer_is_asked_for_its_types_and_a_method_is_not() -> None:
    assert refusal(peer("cublas"), GemmSpec(5, 6, 7), "bfloat16") == "cublas takes float32, float16, not bfloat16."
    assert refusal(method("gemm_warp"), GemmSpec(5, 6, 7), "bfloat16") is None
