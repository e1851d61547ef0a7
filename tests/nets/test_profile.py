"""The profile of a network against what its layers are by themselves, and by hand."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path
from typing import Any

import onnx
import pytest
from matplotlib.colors import to_rgb
from onnx import TensorProto, helper

from convlab.executors import cuda
from convlab.nets import Network, network, profile
from convlab.nets.builder import Builder
from convlab.nets.row import FIELDS
from convlab.perf import profile as perf_profile
from convlab.perf.times import Time
from convlab.spec import ConvSpec, ConvTransposeSpec

A, B = ConvSpec(1, 16, 24, 20, 16, 3, 3, padding=1), ConvSpec(1, 16, 24, 20, 24, 1, 1)


def module() -> Any:
    """The module: the package's own name for it is the function."""
    return importlib.import_module("convlab.nets.profile")


@pytest.fixture(autouse=True)
def without_a_gpu_and_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "available", lambda: False)
    module()._known.clear()


def small() -> Network:
    """Two convolutions of the same sizes, a sum around one, pooling, a transposed one and a classifier."""
    builder = Builder("small", (2, 8, 18, 14))
    x = builder.conv("first", builder.input, 8, 3, padding=1)
    y = builder.conv("second", x, 8, 3, padding=1)
    x = builder.join("sum", "add", (y, x))
    x = builder.max_pool("pool", x, 2, 2)
    x = builder.transposed("up", x, 4, 2, 2)
    builder.linear("classes", builder.average("mean", x), 5)
    return builder.network()


def test_every_row_is_what_the_layer_is_by_itself() -> None:
    net = small()
    found = profile(net, gpu="T4")
    assert [row.layer for row in found] == list(net)
    for row in found:
        assert row.live == net.live("float32")[row.layer.name]
        assert row.live_im2col == net.live("float32", im2col=True)[row.layer.name]
        if row.layer.spec:
            alone = perf_profile.profile(row.layer.spec, row.method, gpu="T4", sample=4)
            assert row.time == alone.time
            assert row.waits_for == alone.waits_for
        if isinstance(row.layer.spec, ConvSpec):
            traffic = row.layer.spec.traffic("float32")
            assert (row.traffic, row.activation) == (traffic.total, traffic.output)
            assert row.intensity == pytest.approx(row.layer.spec.intensity("float32"))
    assert found["up"].method == "transposed"
    assert found["classes"].method == "gemm_naive"


def test_what_has_no_weights_moves_its_bytes_once() -> None:
    found = profile(small())
    row = found["sum"]
    size = 2 * 8 * 18 * 14 * 4
    assert row.traffic == 3 * size
    assert row.time is not None
    assert row.time.milliseconds == pytest.approx(3 * size / (0.9 * 1555e9) * 1e3 + 0.0025, rel=1e-3)
    assert (row.time.kind, row.method, row.bound, row.waits_for) == ("modelled", "", "memory", "")


def test_totals_are_sums_and_the_slow_layers_take_half() -> None:
    net = small()
    found = profile(net)
    totals = found.totals
    assert totals["parameters"] == net.parameters
    assert totals["macs"] == net.macs
    assert totals["milliseconds"] == pytest.approx(sum(row.time.milliseconds for row in found if row.time))
    assert (totals["peak_layer"], totals["peak_bytes"]) == net.peak("float32")
    assert (totals["peak_layer_im2col"], totals["peak_bytes_im2col"]) == net.peak("float32", im2col=True)
    times = sorted((row.milliseconds for row in found), reverse=True)
    slow = [row.milliseconds for row in found.slow]
    assert slow == times[: len(slow)]
    assert sum(slow) >= sum(times) / 2 > sum(slow[:-1])


@pytest.mark.parametrize(("spec", "bound"), [(B, "memory"), (A, "compute")])
def test_the_bound_is_by_the_ridge_of_19_5_tflops_over_1555_gbs(spec: ConvSpec, bound: str) -> None:
    (row,) = profile([spec])
    assert (2 * spec.macs / spec.traffic("float32").total > 19.5e12 / 1555e9) == (bound == "compute")
    assert row.bound == bound
    (double,) = profile([spec], dtype="float64")
    assert double.bound == ""


def test_a_type_halves_the_bytes_and_chooses_for_itself() -> None:
    whole, half = profile([A]), profile([A], dtype="float16")
    assert (whole[0].method, half[0].method) == ("grouped", "tensor_core_mma")
    assert whole[0].activation == 2 * half[0].activation


def test_where_no_kernel_has_the_type_a_float32_one_stands_in_and_says_so() -> None:
    up = ConvTransposeSpec(1, 16, 24, 20, 8, 2, 2, 2)
    for row in (profile([up], dtype="float16")[0], profile([up], dtype="bfloat16", gpu="T4")[0]):
        assert (row.method, row.time.kind if row.time else "") == ("transposed", "modelled")
        assert row.why.startswith("No kernel computes it in ")
        assert row.why.endswith(
            "float16, so this is float32: it gathers what reaches an output, without atomics or zeros."
        )
    assert {row.time.kind for row in profile([A, up], device="cpu") if row.time} == {"measured"}


def counted(monkeypatch: pytest.MonkeyPatch, stop_at: int = 0) -> list[ConvSpec]:
    """The specs that are profiled from now on; Ctrl-C comes at one of them."""
    asked: list[ConvSpec] = []
    real = module().profile_methods

    def profile_methods(spec: ConvSpec, *given: Any) -> Any:
        asked.append(spec)
        if len(asked) == stop_at:
            raise KeyboardInterrupt
        return real(spec, *given)

    monkeypatch.setattr(module(), "profile_methods", profile_methods)
    return asked


def test_equal_sizes_are_profiled_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    first = profile([A, B, A, A, B])
    assert asked == [A, B]
    again = profile([B, A])
    assert (again["layer1"].time, again["layer2"].time) == (first["layer2"].time, first["layer1"].time)
    assert first["layer1"].time == first["layer3"].time == first["layer4"].time
    assert asked == [A, B]
    profile([A], gpu="T4")
    assert asked == [A, B, A]


def test_after_ctrl_c_what_is_done_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    third = ConvSpec(1, 24, 24, 20, 8, 1, 1)
    asked = counted(monkeypatch, stop_at=3)
    with pytest.raises(KeyboardInterrupt):
        profile([A, B, third])
    assert asked == [A, B, third]
    assert len(profile([A, B, third])) == 3
    assert asked == [A, B, third, third]


def test_of_several_methods_each_layer_takes_the_fastest_and_says_by_how_much() -> None:
    names = ["naive", "tiled", "depthwise", "gemm_naive"]
    (row,) = profile([A], method=names)
    times = {each: perf_profile.profile(A, each, sample=4).time.milliseconds for each in ("naive", "tiled")}
    best, other = sorted(times, key=lambda each: times[each])
    assert row.method == best
    assert row.why.startswith(f"Modelled {times[other] / times[best]:.2f} times as fast as {other}, which waits for ")
    (only,) = profile([A], method="naive")
    assert (only.method, only.why) == ("naive", "It was the only one asked for that does this.")


def test_where_no_method_that_was_asked_for_does_it_the_rules_do() -> None:
    up = ConvTransposeSpec(1, 16, 24, 20, 8, 2, 2, 2)
    first, second = profile([A, up], method=["depthwise", "grouped"])[:2]
    assert first.method == "grouped"
    assert second.method == "transposed"
    (row,) = profile([A], method="depthwise")
    assert row.method == "grouped"
    assert row.why.startswith("depthwise: It computes depthwise convolutions")
    assert row.why.endswith(
        "By the rules: so few outputs make too few large tiles to fill a GPU, and it has small ones."
    )


def test_mistakes_are_told_before_the_first_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = counted(monkeypatch)
    mistakes: Any = (
        ({"network": "resnet5"}, "There is no network 'resnet5'. Did you mean 'resnet50'"),
        ({"method": ["naive", "tild"]}, "There is no method 'tild'. Did you mean 'tiled'"),
        ({"gpu": "A10"}, "There is no GPU 'A10' in the table. Did you mean 'A100'"),
    )
    for mistake, message in mistakes:
        with pytest.raises(ValueError, match=message):
            profile(**{"network": [A], **mistake})
    assert asked == []


def test_a_recorded_time_is_called_so_beside_modelled_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded(spec: Any, *_: Any) -> Time | None:
        return Time(2.0, "recorded", "A100", day="2026-01-02") if spec == A else None

    monkeypatch.setattr(importlib.import_module("convlab.perf.time"), "recorded", recorded)
    found = profile([A, B])
    assert [row.time.kind for row in found if row.time] == ["recorded", "modelled"]
    assert found.sources["recorded on A100 on 2026-01-02"] == 2.0
    assert "2 ms recorded on A100 on 2026-01-02, " in repr(found)
    assert "recorded on A100 on 2026-01-02 and modelled for A100" in found.plot().alt


def test_what_lies_between_has_no_time() -> None:
    found = profile([A, ConvSpec(1, 16, 12, 10, 8, 1, 1)])
    assert [row.time is None for row in found] == [False, True, False]
    assert found.records()[1]["milliseconds"] is None


def test_the_csv_has_a_row_for_each_layer_and_adds_up(tmp_path: Path) -> None:
    found = profile(small())
    found.to_csv(tmp_path / "layers.csv")
    with (tmp_path / "layers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == FIELDS
    assert [row["layer"] for row in rows] == [layer.name for layer in small()]
    assert sum(int(row["parameters"]) for row in rows) == small().parameters
    assert sum(int(row["macs"]) for row in rows) == small().macs
    assert sum(float(row["milliseconds"]) for row in rows) == pytest.approx(found.milliseconds)
    assert rows[0]["sizes"] == "2×8×18×14 → 8 filters 3×3, stride 1, padding 1"
    assert {row["time_kind"] for row in rows} == {"modelled"}


def test_slow_bars_are_dark_and_named_and_stay_so_in_grey() -> None:
    found = profile(small())
    picture = found.plot()
    axes: Any = picture.figure.axes[0]
    assert [bar.get_height() for bar in axes.patches] == [row.milliseconds for row in found]
    grey = [0.299 * r + 0.587 * g + 0.114 * b for r, g, b in (to_rgb(bar.get_facecolor()) for bar in axes.patches)]
    for row, lightness, bar in zip(found, grey, axes.patches, strict=True):
        assert (lightness < 0.3) == (row in found.slow)
        assert (lightness > 0.7) == (row not in found.slow)
        assert bool(bar.get_hatch()) == (row.bound == "memory")
    assert {text.get_text() for text in axes.texts} == {row.layer.name for row in found.slow}
    assert all(row.layer.name in picture.alt for row in found.slow)
    assert picture.alt.startswith(f"Bars of small, N=2, float32: {found.milliseconds:.4g} ms, modelled for A100.")
    assert picture.image("png").startswith(b"\x89PNG")


def test_text_and_table_name_all_layers_totals_and_reasons() -> None:
    found = profile(small())
    text, page = repr(found), found._repr_html_()
    for layer in small():
        assert f"\n{layer.name} " in text
        assert f">{layer.name}<" in page
    assert text.startswith("small, N=2, float32, for the A100\nlayer ")
    assert "MACs: 597 k." in text
    assert "transposed: It gathers what reaches an output, without atomics or zeros. (up)" in text
    assert page.count("font-weight:bold") == len(found.slow)
    assert max(map(len, text.splitlines())) <= 130
    with pytest.raises(KeyError, match="small has no layer 'third'"):
        found["third"]


def test_a_file_of_onnx_is_profiled_by_its_name(tmp_path: Path) -> None:
    shapes = {"x": (1, 3, 12, 10), "w": (4, 3, 3, 3), "y": (1, 4, 10, 8)}
    x, w, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items())
    weights = helper.make_tensor("w", TensorProto.FLOAT, shapes["w"], [0.0] * 108)
    del w
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], "only")], "g", [x], [y], [weights])
    onnx.save(helper.make_model(graph), str(tmp_path / "mine.onnx"))
    (row,) = profile(tmp_path / "mine.onnx")
    assert row.layer.spec == ConvSpec(1, 3, 12, 10, 4, 3, 3)


@pytest.mark.slow
def test_resnet50_with_one_image_waits_for_its_last_stages() -> None:
    """All 24 distinct sizes, by the rules: half a minute."""
    found = profile("resnet50")
    assert len(network("resnet50").specs) == 24
    assert {row.layer.place[:7] for row in found.slow} <= {"conv4_x", "conv5_x"}
    assert found["conv2_1.conv"].method == "winograd"
    assert 1 < found.milliseconds < 10
