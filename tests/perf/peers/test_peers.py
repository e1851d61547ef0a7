"""The peers of the CPU for real, those that are not installed by a stand-in, and the table of all."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from convlab.errors import LaunchError
from convlab.perf.cpu_timing import processor
from convlab.perf.peers import peer, peers
from convlab.perf.peers.measure import measure_peer
from convlab.reference.direct import oracle
from convlab.spec import ConvSpec, GemmSpec

from .torch_stand_in import Torch

SPEC = ConvSpec(n=2, c=4, h=9, w=8, k=6, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2), groups=2)
EVEN = ConvSpec(n=2, c=4, h=9, w=8, k=6, r=3, s=2, stride=(2, 1), padding=(1, 1, 2, 2), dilation=(1, 2), groups=2)


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", Torch())
    monkeypatch.setattr("convlab.perf.peers.adapter.find_spec", lambda name: name)


@pytest.mark.parametrize(("name", "spec"), [("numpy", SPEC), ("onnxruntime", SPEC), ("torch_cpu", EVEN)])
def test_a_peer_of_the_cpu_convolves(torch, name, spec):
    prepared = peer(name).prepare(spec, "float32")
    inputs = prepared.inputs
    np.testing.assert_allclose(prepared(), oracle(inputs["x"], inputs["w"], None, spec), rtol=0, atol=1e-5)
    time, kernel = measure_peer(peer(name), spec)
    assert (time.kind, time.on, kernel) == ("measured", processor(), "")
    assert time.milliseconds > 0


@pytest.mark.parametrize("name", ["numpy", "onnxruntime", "torch_cpu"])
def test_a_peer_of_the_cpu_multiplies_matrices(torch, name):
    prepared = peer(name).prepare(GemmSpec(7, 11, 5), "float32")
    a, b = prepared.inputs["a"], prepared.inputs["b"]
    np.testing.assert_allclose(prepared(), a.astype("f8") @ b, rtol=0, atol=1e-5)


def test_what_is_not_installed_says_so_in_the_table_and_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("convlab.perf.peers.adapter.find_spec", lambda name: None if name == "torch" else name)
    lines = repr(peers()).splitlines()
    assert lines[-3:] == [
        "torch_cpu       PyTorch on the CPU                   CPU The package torch is not installed.",
        "onnxruntime     ONNX Runtime                         CPU here",
        "numpy           im2col and NumPy's matmul            CPU here",
    ]
    with pytest.raises(LaunchError) as caught:
        measure_peer(peer("torch_cpu"), EVEN)
    assert str(caught.value) == (
        "PyTorch on the CPU cannot be timed here. The package torch is not installed.\n"
        "  Fix: install what is missing, or leave 'torch_cpu' out."
    )


def test_the_table_in_a_notebook_has_a_row_for_each():
    html = peers()._repr_html_()
    assert html.count("<tr>") == 1 + len(peers())
    assert "im2col and NumPy&#x27;s matmul" in html


def test_names_are_unique_and_an_unknown_one_is_guessed():
    names = [each.name for each in peers()]
    assert len(set(names)) == len(names) == 8
    assert [each.name for each in peers()[:2]] == names[:2]
    with pytest.raises(
        ValueError, match=r"^There is no peer 'cudn'\. Did you mean 'cudnn'\? The peers are: cudnn, cud"
    ):
        peer("cudn")
