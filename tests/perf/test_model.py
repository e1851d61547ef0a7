"""The model on the kernels of the ladder: more work is never faster, a better GPU never slower, all is labelled."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import pytest

from convlab.emulator import Counters
from convlab.kernels.layers import LAYERS
from convlab.perf import model
from convlab.perf.gpus import GPUS, gpu
from convlab.perf.model import LIMITS, predict
from convlab.perf.work import work
from convlab.spec import ConvSpec

STANDARD = LAYERS["conv2d"]["standard"]


METHODS = ("naive", "tiled", "implicit_gemm", "tensor_core_mma", "winograd")
COUNTS = (
    "instructions",
    "sectors_global_load",
    "wavefronts_shared_load",
    "barriers",
    "tensor_flop",
    "thread_instructions_fp32",
)


def doubled(launch, name):
    """The same launch with twice a count, in total and in each array."""

    def twice(counts):
        return Counters({**counts, name: 2 * counts[name]})

    arrays = {array: twice(counts) for array, counts in launch.arrays.items()}
    return replace(launch, counters=twice(launch.counters), arrays=arrays)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("method", METHODS)
def test_more_work_is_never_faster(method, count):
    done = work(STANDARD, method)
    more = replace(done, launches=tuple(doubled(launch, count) for launch in done))
    missed = replace(done, launches=tuple(replace(launch, l2_load_bytes=2 * launch.l2_load_bytes) for launch in done))
    for chip in (gpu("A100"), gpu("RTX 4090")):
        assert predict(more, chip).milliseconds >= predict(done, chip).milliseconds
        assert predict(missed, chip).milliseconds >= predict(done, chip).milliseconds
    if done.counters[count] and count == "instructions":
        assert predict(more, gpu("A100")).milliseconds > predict(done, gpu("A100")).milliseconds


BETTER = {
    "sms": 2,
    "boost_mhz": 1.5,
    "dram_gbs": 2,
    "l2_mb": 2,
    "fp32_lanes_per_sm": 2,
    "schedulers_per_sm": 2,
}


@pytest.mark.parametrize("field", BETTER)
@pytest.mark.parametrize("method", METHODS)
def test_a_better_gpu_is_never_slower(method, field):
    done = work(STANDARD, method)
    for chip in (gpu("A100"), gpu("H200"), gpu("RTX 3060")):
        better = replace(chip, **{field: type(getattr(chip, field))(getattr(chip, field) * BETTER[field])})
        assert predict(done, better).milliseconds <= predict(done, chip).milliseconds


@pytest.mark.parametrize("name", GPUS)
def test_bytes_of_l2_take_what_the_table_says_or_the_family_does(name):
    (launch,) = predict(work(STANDARD, "naive"), gpu(name)).launches
    assumed = gpu(name).sms * (32 if "HBM" in gpu(name).dram_type else 12) * gpu(name).boost_mhz / 1e3
    assert launch.limits["l2"] == pytest.approx(launch.l2_bytes / 1e6 / (gpu(name).l2_gbs or assumed))


@pytest.mark.parametrize("name", GPUS)
def test_every_gpu_has_a_prediction(name):
    prediction = predict(work(STANDARD, "tiled"), gpu(name))
    assert isfinite(prediction.milliseconds)
    assert prediction.milliseconds > model.LAUNCH_MS
    assert prediction.gpu.name == name


def test_a_prediction_is_always_labelled():
    prediction = predict(work(STANDARD, "winograd"), gpu("A100"))
    time = prediction.time()
    assert (time.kind, time.on, time.milliseconds) == ("modelled", "A100", prediction.milliseconds)
    assert "modelled for A100" in repr(prediction)
    assert "ms, modelled" in prediction._repr_html_()
    assert repr(prediction).count("ms modelled;") == len(prediction.launches) == 2
    assert prediction.milliseconds == sum(launch.milliseconds for launch in prediction.launches)
    assert f"waits for {prediction.waits_for}" in str(time)


def test_the_longest_launch_says_what_a_method_waits_for():
    prediction = predict(work(STANDARD, "winograd"), gpu("A100"))
    filters, convolution = prediction.launches
    assert filters.milliseconds < convolution.milliseconds
    assert prediction.waits_for == LIMITS[convolution.limit]


def test_many_launches_are_shown_by_the_longest():
    prediction = predict(work(ConvSpec(n=1, c=512, h=3, w=3, k=25, r=3, s=3), "constant_weights"), gpu("A100"))
    assert len(prediction.launches) == 9
    assert repr(prediction).count("ms modelled;") == model.SHOWN
    assert repr(prediction).endswith("… and 3 more launches, none of them longer.")
    assert prediction._repr_html_().endswith("<p>… and 3 more launches, none of them longer.</p>")


def test_without_an_assembler_registers_are_assumed_and_that_is_said(monkeypatch):
    done = work(STANDARD, "tiled")
    monkeypatch.setattr(model, "why_not", lambda: "there is no compiler here.")
    prediction = predict(done, gpu("A100"))
    assert "assuming 64 registers a thread" in str(prediction.time())
    assert prediction.launches[0].resident.blocks > 0


def test_tensor_cores_without_the_type_are_refused():
    with pytest.raises(ValueError, match=r"^The Tensor Cores of the T4 do not multiply bfloat16, as conv_mma needs\.$"):
        predict(work(STANDARD, "tensor_core_bf16"), gpu("T4"))
