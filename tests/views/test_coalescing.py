"""The picture of requests against the emulator's counters, and against addresses worked out by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.run import Run
from convlab.spec import ConvSpec, LayoutSpec
from convlab.views.coalescing import CoalescingView, coalescing
from convlab.views.requests import requests
from convlab.views.traced import trace_method

SPEC = ConvSpec(n=2, c=3, h=9, w=7, k=5, r=3, s=2, stride=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2))
WHOLE: list[tuple[str, Any]] = [
    *((name, SPEC) for name in ("naive", "naive_nhwc", "tiled", "multi_output", "constant_weights", "implicit_gemm")),
    ("naive", ConvSpec(n=1, c=2, h=11, w=37, k=3, r=1, s=5, stride=3)),
    ("depthwise", ConvSpec(n=1, c=4, h=9, w=12, k=4, r=3, s=3, groups=4, padding=1)),
    ("layout_naive", LayoutSpec(n=2, c=5, h=6, w=7)),
    ("layout_transform", LayoutSpec(n=1, c=37, h=5, w=9, source="nhwc", target="nchw")),
]


@pytest.mark.parametrize(("name", "spec"), WHOLE, ids=str)
def test_the_requests_of_all_warps_are_what_the_emulator_counts(name: str, spec: Any) -> None:
    run = trace_method(name, spec, (None, None))
    counted = {"load": np.zeros(4, int), "store": np.zeros(4, int)}
    for trace in run.traces:
        for each in requests(trace):
            least = -(-each.asked // 32)
            counted[each.action] += np.array([1, len(each.sectors), each.asked, least])
    for action, found in counted.items():
        names = ("requests_global", "sectors_global", "bytes_global", "sectors_ideal_global")
        assert found.tolist() == [run.counters[f"{each}_{action}"] for each in names]
    assert counted["store"][0] > 0


@pytest.mark.parametrize(("name", "spec"), WHOLE, ids=str)
def test_the_view_of_all_steps_says_the_same_as_those_of_each(name: str, spec: Any) -> None:
    run = trace_method(name, spec, (0, 0))
    whole = coalescing(run)
    singles = [coalescing(run, request=i) for i in range(1, min(40, len(whole.sectors)) + 1)]
    assert [view.sectors for view in singles] == [(each,) for each in whole.sectors[: len(singles)]]
    if len(singles) == len(whole.sectors):
        assert whole.moved == sum(view.moved for view in singles) == 32 * sum(whole.sectors)
        assert whole.asked == sum(view.asked for view in singles)
        assert whole.wasted == sum(view.wasted for view in singles)
    for view, frame in zip(singles, whole.frames, strict=False):
        assert frame.caption == view.captions[0]
        assert touched(whole, {**frame.kinds}) == touched(view, dict(enumerate(all_kinds(view))))


def all_kinds(view: CoalescingView) -> list[str]:
    return [kind for panel in view.panels for kind in panel.cell_kinds]


def touched(view: CoalescingView, kinds: dict[int, str]) -> set[tuple[str, str]]:
    """Which words, by array and byte, a picture marks in which kind."""
    places = [label.partition(",")[0].partition(":")[0] for panel in view.panels for label in panel.labels]
    return {(places[cell], kind) for cell, kind in kinds.items() if places[cell].startswith("byte") and kind != "plain"}


def run_of(source: str, *arrays: Any, threads: int = 32) -> Run:
    module = compile('extern "C" __global__ void probe(' + source)
    return launch(module.kernels["probe"], 1, threads, list(arrays), device="emulator", trace=(0, 0), faults="record")


def test_a_stride_of_two_wastes_every_other_word() -> None:
    x, y = np.zeros(64, "f4"), np.zeros(32, "f4")
    run = run_of("const float* x, float* y) { y[threadIdx.x] = x[2 * threadIdx.x]; }", x, y)
    load, store = coalescing(run, request=1), coalescing(run, request=2)
    assert (load.sectors, load.asked, load.moved, load.wasted) == ((8,), 128, 256, 128)
    assert (store.sectors, store.asked, store.moved, store.wasted) == ((4,), 128, 128, 0)
    lanes, memory = load.panels
    assert [*memory.cell_kinds] == ["input", "waste"] * 32
    assert [*memory.values] == [text for lane in range(32) for text in (str(lane), "")]
    assert memory.labels[10] == "byte 40 of x, x[10]: asked for by lane 5"
    assert memory.labels[11] == "byte 44 of x: moves along in its sector, though no lane asks for it"
    assert lanes.labels[5] == "lane 5 asks for x[10], from byte 40 on"
    assert load.linked(5) == [32 + 10]
    assert load.linked(32 + 11) == []
    assert load.captions[0].startswith(
        "Load of x: 32 of 32 lanes ask for 128 bytes. To move: 8 sectors (4 would do), 256 bytes, 128 of them for "
        "nothing. kernel.cu, line 1: "
    )
    assert store.captions[0].startswith(
        "Store of y: 32 of 32 lanes ask for 128 bytes. To move: 4 sectors, 128 bytes, none for nothing. "
    )


def test_lanes_that_take_no_part_are_idle_and_shared_words_are_counted_once() -> None:
    x = np.zeros(4, "f4")
    run = run_of("float* x) { if (threadIdx.x % 3 == 1) x[3] = 1.0f; }", x)
    view = coalescing(run)
    (frame,) = view.frames
    assert [lane for lane in range(32) if frame.kinds[lane] != "idle"] == [*range(1, 32, 3)]
    assert (view.sectors, view.asked, view.moved) == ((1,), 4, 32)
    assert frame.values == {32 + word: "+" if word == 3 else "×" for word in range(8)}
    (single,) = [coalescing(run, request=1)]
    assert single.panels[1].labels[3] == "byte 12 of x, x[3]: asked for by 11 lanes"
    assert single.panels[0].labels[0] == "lane 0 takes no part"
    assert single.linked(32 + 3) == [*range(1, 32, 3)]


def test_wide_loads_fill_several_words_of_a_lane() -> None:
    x = np.zeros(64, "f4")
    run = run_of("float4* x) { x[threadIdx.x] = make_float4(1, 2, 3, 4); }", x, threads=16)
    view = coalescing(run, request=1)
    assert (view.sectors, view.wasted) == ((8,), 0)
    assert [*view.panels[1].values] == [str(word // 4) for word in range(64)]
    assert view.panels[1].labels[6] == "byte 24 of x: asked for by lane 1"


def test_bytes_in_between_are_left_out_and_said_so() -> None:
    view = coalescing("layout_naive", LayoutSpec(n=1, c=24, h=4, w=9), request=2)
    parts = view.panels[1:]
    assert [panel.name for panel in parts] == ["y", "y, part 2", "y, part 3"]
    assert [int(row.replace(",", "")) for panel in parts for row in panel.row_index] == [96 * i for i in range(32)]
    assert parts[0].subtitle == "32 sectors, up to 96 bytes apart"
    assert [*parts[0].row_lines] == [*range(1, parts[0].rows)]
    near = coalescing("layout_naive", LayoutSpec(n=1, c=24, h=4, w=9), request=1)
    assert (near.panels[1].subtitle, near.panels[1].row_lines) == ("4 sectors", [])


def test_what_there_is_no_room_for_is_left_out_and_said_so() -> None:
    spec = ConvSpec(n=1, c=8, h=5, w=6, k=32, r=3, s=3)
    run = trace_method("naive_nhwc", spec)
    view, everything = coalescing(run), requests(run.traces[0])
    assert len(view.frames) < len(everything)
    assert view.captions[0].startswith(f"The first {len(view.frames)} are shown, step by step. ")
    assert sum(panel.rows for panel in view.panels[1:]) <= 36
    assert coalescing(run, request=len(everything)).captions[0].startswith("Store of y: ")


def test_labels_and_indices_name_the_same_element() -> None:
    view = coalescing("naive", SPEC, request=4)
    words = [label for panel in view.panels[1:] for label in panel.labels if "asked for" in label]
    for label in words:
        byte, array, index = re.match(r"byte (\d+) of (\w), \w\[(.*?)\]", label).groups()  # type: ignore[union-attr]
        shape = {"x": SPEC.input_shape, "w": SPEC.weight_shape, "y": SPEC.output_shape}[array]
        assert 4 * np.ravel_multi_index([*map(int, index.split(", "))], shape) == int(byte)
    assert words


def test_what_is_not_there_is_refused() -> None:
    run = trace_method("naive", SPEC)
    with pytest.raises(ValueError, match=r"request=999 is not there: the warp has \d+.\n  Fix: choose one from 1 on"):
        coalescing(run, request=999)
    with pytest.raises(ValueError, match="request=-1 is not there"):
        coalescing(run, request=-1)
    with pytest.raises(ValueError, match=r"The run has 1 traces, and no number 1.\n  Fix: launch it with"):
        coalescing(run, trace=1)
    with pytest.raises(ValueError, match=r"The run has 0 traces, and no number 0."):
        coalescing(replace(run, traces=()))
    silent = run_of("float* x) { }", np.zeros(1, "f4"))
    with pytest.raises(ValueError, match=r"request=0 is not there: the warp has 0.\n  Fix: trace a warp that reads"):
        coalescing(silent)
    with pytest.raises(ValueError, match=r"direct runs on the CPU, and launches no kernel."):
        coalescing("direct", SPEC)
    with pytest.raises(ValueError, match=r"In: .*\n  Fix: choose another method than depthwise, or other sizes."):
        coalescing("depthwise", SPEC)
