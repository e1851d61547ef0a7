"""Profiles: figures against the counters and by hand, kinds of time, refusals in words, tables and pictures."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.kernels.layers import LAYERS
from convlab.perf import profile as module
from convlab.perf import profile_record
from convlab.perf.gpus import gpu
from convlab.perf.model import predict
from convlab.perf.profile import profile
from convlab.perf.profile_record import Profile
from convlab.perf.profile_table import COLUMNS, Profiles, Refusal
from convlab.perf.times import Time
from convlab.perf.work import work
from convlab.spec import ConvSpec

# N > 1, and no two sizes are the same.
SPEC = ConvSpec(n=2, c=5, h=13, w=11, k=7, r=3, s=2)
CPU = Time(12.5, "measured", on="a CPU", day="2026-11-30", low=12.0, high=13.0)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where there is one: what is measured is different every time."""
    monkeypatch.setattr(cuda, "available", lambda: False)


def timed(monkeypatch: pytest.MonkeyPatch, *times: Time) -> list[dict[str, Any]]:
    """Let the next methods take these times; gives what was asked."""
    asked: list[dict[str, Any]] = []
    left = list(times)

    def time(spec: Any, **how: Any) -> Time:
        asked.append({"spec": spec, **how})
        return left.pop(0)

    monkeypatch.setattr(module, "time", time)
    return asked


def test_one_method_by_hand() -> None:
    found = profile(SPEC, "naive")
    outputs = 2 * 7 * 11 * 10
    assert found.flop == found.counters.flop == found.executed_flop == 2 * outputs * 5 * 3 * 2
    assert found.traffic["compulsory"] == 4 * (2 * 5 * 13 * 11 + 7 * 5 * 3 * 2 + outputs)
    sectors = found.counters.sectors_global_load + found.counters.sectors_global_store
    assert found.traffic["l1"] == 32 * sectors
    assert found.traffic["compulsory"] < found.traffic["l2"] < found.traffic["l1"]
    assert found.intensity["l1"] == found.flop / (32 * sectors)
    assert found.time.kind == "modelled"
    assert found.gflops == pytest.approx(found.flop / found.time.milliseconds * 1e-6)
    assert found.peak_share == pytest.approx(found.gflops / (108 * 64 * 2 * 1.41))
    assert {*found.arrays} == {"x", "w", "y"}
    assert sum(counts.sectors_global_load for counts in found.arrays.values()) == found.counters.sectors_global_load
    assert found.arrays["y"].sectors_global_load == 0


def test_it_agrees_with_the_work_and_the_model() -> None:
    found, counted = profile(SPEC, "tiled", gpu="T4"), work(SPEC, "tiled")
    prediction = predict(counted, gpu("T4"))
    assert dict(found.counters) == dict(counted.counters)
    assert found.time == prediction.time()
    assert found.waits_for == prediction.waits_for
    (launch,) = prediction.launches
    assert found.traffic["l2"] == launch.l2_bytes
    assert found.traffic["dram"] == launch.dram_bytes
    assert found.occupancy == {"conv_tiled": launch.resident}


@pytest.mark.skipif(sys.platform == "darwin", reason="NVIDIA makes no assembler for macOS")
def test_registers_are_those_of_the_gpus_architecture() -> None:
    found, (entry,) = profile(SPEC, "tiled", gpu="T4"), work(SPEC, "tiled")
    assert found.resources == {"conv_tiled": entry.resources["sm_75"]}
    assert f"; {entry.resources['sm_75'].registers} registers\n" in repr(found)


def test_without_an_assembler_registers_are_said_to_be_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = profile(SPEC, "naive")
    monkeypatch.setattr(profile_record, "why_not", lambda: "There is no assembler here.")
    assert found.resources == {}
    assert "; assuming 64 registers\n" in repr(found)
    assert "; assuming 64 registers<" in found._repr_html_()


def test_the_launches_of_a_plan_are_added_up() -> None:
    spec = LAYERS["conv2d"]["standard"]
    found = profile(spec, "winograd")
    assert {*found.occupancy} == {launch.entry for launch in found.work or ()}
    assert len(found.occupancy) == 2
    assert found.executed_flop < spec.flops / 1.5
    assert found.arrays["u"].sectors_global_store > 0 < found.arrays["u"].sectors_global_load


@pytest.mark.parametrize(
    ("method", "dtype"), [("naive", "float32"), ("tensor_core", "float16"), ("tensor_core_bf16", "bfloat16"),
                          ("tensor_core_tf32", "tf32")]
)  # fmt: skip
def test_the_peak_is_that_of_the_arithmetic_that_is_used(method: str, dtype: str) -> None:
    found = profile(LAYERS["conv2d"]["standard"], method)
    assert found.dtype == found.point().dtype == dtype
    assert found.peak_share == pytest.approx(found.gflops / gpu("A100").peak_tflops(dtype) / 1e3)


def test_a_sample_is_said_to_be_one() -> None:
    whole, part = profile(SPEC, "naive", sample=False), profile(SPEC, "naive", sample=2)
    assert "some blocks, scaled to all" in repr(part)
    assert "scaled" not in repr(whole)
    assert part.work is not None
    assert part.work.launches[0].counters.sampled == (2, 14)


def test_a_reference_method_is_timed_on_this_cpu_and_has_no_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, CPU)
    found = profile(SPEC, "direct")
    assert (found.time, found.work, found.prediction, found.traffic, found.occupancy) == (CPU, None, None, {}, {})
    assert found.peak_share is None
    with pytest.raises(AttributeError, match="'direct' has no kernel of ours to count"):
        _ = found.counters.flop
    with pytest.raises(ValueError, match="The bytes of 'direct' at level 'l2' are not known"):
        found.point("l2")
    assert "12.5 ms, measured on a CPU on 2026-11-30 (12 to 13)" in repr(found)
    assert "counters  none: no kernel of ours" in repr(found)


def test_a_time_that_was_measured_brings_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = timed(monkeypatch, Time(0.5, "measured", on="NVIDIA H200"))
    found = profile(SPEC, "naive", device="cuda", gpu="T4")
    assert asked == [
        {"spec": SPEC, "method": "naive", "device": "cuda", "gpu": "T4", "dtype": "float32", "sample": "auto"}
    ]
    assert (found.gpu.name, found.time.kind) == ("H200", "measured")
    assert found.peak_share == pytest.approx(found.flop / 0.5e-3 / 1e12 / gpu("H200").peak_tflops("float32"))
    assert found.plot().alt.startswith(f"{SPEC}: roofline of the H200")


def test_a_gpu_outside_the_table_has_no_share_of_a_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, *2 * [Time(0.5, "measured", on="NVIDIA GeForce RTX 3050")])
    found = profile(SPEC, ["naive"])
    assert found[0].peak_share is None
    assert "The time of &#x27;naive&#x27; is 0.5 ms, measured on NVIDIA GeForce RTX 3050" in found._repr_html_()


def test_a_recorded_time_stays_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Time(0.25, "recorded", on="A100", day="2026-11-30", low=0.2, high=0.3)
    timed(monkeypatch, taken)
    found = profile(SPEC, "naive")
    assert found.time == taken
    assert found.waits_for
    assert "0.25 ms, recorded" in repr(found)


def test_a_modelled_time_is_of_the_same_sample_as_the_counters() -> None:
    found = profile(ConvSpec(n=1, c=4, h=33, w=40, k=6, r=3, s=2), "naive", sample=1)
    assert found.prediction is not None
    assert found.time == found.prediction.time()
    assert found.time != profile(found.spec, "naive", sample=False).time


def test_several_methods_are_a_table_with_a_row_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Time(0.0123, "modelled", on="A100")
    timed(monkeypatch, CPU, model, model, Time(0.0131, "recorded", on="A100", day="2026-11-30"))
    found = profile(SPEC, ["direct", "naive", "winograd", "tiled"])
    assert isinstance(found, Profiles)
    assert [type(each) for each in found] == [Profile, Profile, Refusal, Profile]
    title, first, second, notes = repr(found).replace("A100\nmethod", "A100\n\nmethod").split("\n\n")
    assert title == f"{SPEC}, for the A100"
    head, direct, naive, tiled = first.splitlines()
    assert re.split(r" {2,}", head) == ["method", "time", "GFLOP/s", "% of peak", "waits for, modelled", "FLOP"]
    assert re.split(r" {2,}", direct) == ["direct", "12.5 ms, measured", "0.00739", *["–"] * 3]
    assert re.match(r"naive +0\.0\d+ ms, modelled +[\d.]+ +[\d.]+ \(float32\) +the launch itself +92\.4 k", naive)
    assert re.match(r"tiled +0\.0131 ms, recorded +7\.05 ", tiled)
    head, direct, naive, tiled = second.splitlines()
    assert re.split(r" {2,}", head) == ["method", *list(COLUMNS)[5:]]
    counts = found[1].counters
    wanted = f"{counts.sectors_per_request_load:.3g} load, {counts.sectors_per_request_store:.3g} store"
    assert re.split(r" {2,}", naive)[5] == wanted
    assert notes.splitlines() == [
        "winograd: It computes filters of 3×3 only, and this is 3×2.",
        "Measured on a CPU on 2026-11-30: direct.",
        "Modelled for A100: naive.",
        "Recorded on A100 on 2026-11-30: tiled.",
    ]


def test_a_table_fits_the_page_whatever_its_methods_are_called() -> None:
    layer = LAYERS["conv_transpose2d"]["standard"]
    lines = repr(profile(layer, ["transposed_zero_insertion", "transposed_scatter", "transposed_matrix"])).splitlines()
    assert max(map(len, lines)) <= 118
    assert [line.split()[0] for line in lines if line.startswith("method")] == ["method", "method"]
    lines = repr(profile(SPEC, ["im2col_cublas"])).splitlines()
    assert max(map(len, lines)) <= 118
    assert lines[-1].startswith("  ")  # where a reason goes on


def test_a_notebook_shows_the_table_with_the_roofline() -> None:
    found = profile(SPEC, ["naive", "tiled", "depthwise"])
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert html.count("<tr>") == 6  # a head and two methods in each
    assert all(f">{name}</th>" in html for name in COLUMNS)
    assert "<p>depthwise: It computes depthwise convolutions" in html
    assert html.count("data:image/svg+xml;base64,") == 1
    assert 'alt="2×5×13×11 → 7 filters 3×2' in html
    single = found[0]._repr_html_()
    assert "<th>loads: sectors</th>" in single
    assert "ms, modelled</th>" in single


def test_a_table_says_which_methods_were_counted_on_some_blocks_only() -> None:
    found = profile(SPEC, ["naive", "depthwise", "tiled"], sample=1)
    assert repr(found).splitlines()[-1] == "Counted on some blocks, scaled to all: naive, tiled."
    assert "<p>Modelled for A100: naive, tiled.</p>" in found._repr_html_()
    assert "<p>Counted on some blocks, scaled to all: naive, tiled.</p>" in found._repr_html_()
    assert "some blocks" not in repr(profile(SPEC, ["naive"], sample=False))


@pytest.mark.parametrize("level", ["compulsory", "dram", "l2", "l1"])
def test_the_roofline_has_all_methods_with_counters_at_any_level(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Time(0.0123, "modelled", on="A100")
    timed(monkeypatch, CPU, model, model)
    found = profile(SPEC, ["direct", "naive", "tiled"])
    lines = found.plot(level).alt.splitlines()
    assert [line.split(":")[0] for line in lines[1:]] == ["naive", "tiled"]
    assert f"{found[1].intensity[level]:.3g} FLOP per " in lines[1]


def test_methods_without_arithmetic_or_counters_are_a_table_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = profile(LAYERS["layout"]["standard"], ["layout_naive"])
    assert "None of these methods has both counters and arithmetic" in layout._repr_html_()
    assert "no arithmetic" in repr(layout[0])
    timed(monkeypatch, CPU)
    with pytest.raises(ValueError, match="so there is nothing to draw"):
        profile(SPEC, ["direct"]).plot()


def test_a_method_that_cannot_is_an_error_alone_and_a_row_among_others() -> None:
    with pytest.raises(ValueError, match="Method 'depthwise' does not do this: It computes depthwise"):
        profile(SPEC, "depthwise")
    assert [type(each) for each in profile(SPEC, ["depthwise", "pointwise"])] == [Refusal, Refusal]
    needs = "Method 'tensor_core_bf16' needs instructions of compute capability 8.0, and the T4 has 7.5."
    assert profile(SPEC, ["tensor_core_bf16"], gpu="T4")[0] == Refusal("tensor_core_bf16", needs)
    with pytest.raises(ValueError, match=re.escape(f"{needs}\n  Fix: name a newer GPU, such as gpu='A100'.")):
        profile(SPEC, "tensor_core_bf16", gpu="T4")


@pytest.mark.parametrize("method", [5, None])
def test_what_names_no_method_is_refused(method: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"method={method!r} names no method.\n  Fix: give a name of cl.")):
        profile(SPEC, method)


@pytest.mark.parametrize("method", ["naive", ["naive", "tiled"]])
def test_something_else_than_a_spec_is_refused_of_one_method_and_of_several(method: Any) -> None:
    with pytest.raises(ValueError, match=r"^spec is of type list, none of ConvSpec, "):
        profile([1, 64, 56, 56], method)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["im2col_cublas", "cudnn"])
def test_what_has_no_time_is_a_row_that_says_why(name: str) -> None:
    naive, row = profile(SPEC, ["naive", name])
    assert isinstance(naive, Profile)
    assert row.method == name
    assert row.reason.startswith(f"There is no time of {name!r}: none is recorded on the A100, the model cannot count")
    with pytest.raises(LaunchError, match=f"^There is no time of {name!r}: "):
        profile(SPEC, name)


def test_a_peer_has_a_time_and_a_share_of_its_own_peak_and_no_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = timed(monkeypatch, *2 * [Time(0.001, "measured", on="NVIDIA H200", note="by a kernel")], CPU)
    half, products, numpy = profile(SPEC, ["cudnn", "cudnn_tf32", "numpy"], dtype="float16")
    assert {(each["method"], each["dtype"]) for each in asked} == {
        (name, "float16") for name in ("cudnn", "cudnn_tf32", "numpy")
    }
    assert (half.gpu.name, half.dtype, products.dtype, half.work) == ("H200", "float16", "tf32", None)
    assert half.peak_share == pytest.approx(half.gflops / gpu("H200").peak_tflops("float16") / 1e3)
    assert numpy.peak_share is None
    assert "timed     by a kernel" in repr(half)
    assert "counters  none: no kernel of ours" in repr(half)


def test_a_type_without_a_peak_has_no_share_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, Time(0.001, "measured", on="NVIDIA T4"))
    assert profile(SPEC, "cudnn", dtype="bfloat16").peak_share is None


def test_auto_is_the_method_that_it_picks() -> None:
    wide = ConvSpec(n=1, c=32, h=18, w=19, k=32, r=3, s=3)
    found = profile(wide, ["auto", "winograd"])
    assert [each.method for each in found] == ["winograd", "winograd"]
    assert found[0].time == found[1].time
    assert profile(wide, "auto", dtype="float16").method == "tensor_core_mma"
    assert profile(SPEC, "auto", device="cpu").method == "direct"


def test_the_table_is_for_the_gpu_of_what_was_measured_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, CPU, Time(0.5, "measured", on="NVIDIA H200"))
    assert repr(profile(SPEC, ["direct", "cudnn"])).splitlines()[0] == f"{SPEC}, for the H200"


def test_what_is_wrong_with_the_call_is_an_error_among_others_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="There is no method 'naiv'"):
        profile(SPEC, ["naive", "naiv"])
    with pytest.raises(ValueError, match="There is no GPU 'A10' in the table"):
        profile(SPEC, ["naive"], gpu="A10")

    def time(spec: Any, **how: Any) -> Time:
        raise LaunchError("There is no GPU.")

    monkeypatch.setattr(module, "time", time)
    with pytest.raises(LaunchError, match="There is no GPU"):
        profile(SPEC, ["naive", "tiled"], device="cuda")


def test_a_bar_names_who_is_at_work_before_the_first_is_done(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []

    def time(spec: Any, **how: Any) -> Time:
        shown.append(capsys.readouterr().err)
        return CPU

    monkeypatch.setattr(module, "time", time)
    profile(SPEC, ["direct", "numpy"])
    assert "direct:   0%" in shown[0]
    assert "| 0/2 [" in shown[0]
    assert "numpy:  50%" in shown[1]
    assert "| 1/2 [" in shown[1]


def test_profiles_are_a_sequence() -> None:
    found = profile(SPEC, ["naive", "depthwise", "tiled"])
    assert len(found) == 3
    assert [each.method for each in found[::2]] == ["naive", "tiled"]
    assert isinstance(found[::2], Profiles)
    assert profile(SPEC, []) is not None
    assert repr(profile(SPEC, [])).startswith(f"{SPEC}, for the A100\nmethod")
