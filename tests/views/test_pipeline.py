"""The picture of pipelines against a simulation cycle by cycle, and its segments against the traces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from convlab.spec import GemmSpec
from convlab.views.pipeline import Schedule, pipeline, schedule
from convlab.views.segments import Segment, segments
from convlab.views.traced import trace_method

SPEC = GemmSpec(gemm_m=70, gemm_n=45, gemm_k=27)
ROWS = ["under way", "loads", "computes", "waits", "stores"]


def random_warps(seed: int) -> list[list[Segment]]:
    """Some warps that load, compute and store in the same segments, with different numbers of instructions."""
    rng = np.random.default_rng(seed)
    shapes = rng.integers(0, 2, (int(rng.integers(2, 7)), 3))
    shapes[0, 0] = 1
    counts = rng.integers(1, 9, (int(rng.integers(1, 4)), len(shapes), 3)) * shapes
    return [[Segment(*map(int, row), multiplies=bool(row[1])) for row in warp] for warp in counts]


def simulated(warps: Sequence[Sequence[Segment]], latency: int, issue: int) -> tuple[int, int, list[int]]:
    """Step through all cycles: how many there are, those in which the first warp issues nothing, and the barriers."""
    programs = []
    for warp in warps:
        program: list[str] = []
        for segment in warp:
            counts = {"load": segment.load, "other": segment.arithmetic, "store": segment.store}
            program += [name for name, count in counts.items() for _ in range(count * issue)] + ["barrier"]
        programs.append(program[:-1])
    at, arrives, idle, cycle, barriers = [0] * len(warps), [0] * len(warps), 0, 0, []
    while any(place < len(program) for place, program in zip(at, programs, strict=True)):
        now = [program[place] if place < len(program) else "" for place, program in zip(at, programs, strict=True)]
        if all(name == "barrier" for name in now):
            at = [place + 1 for place in at]
            barriers.append(cycle)
            continue
        for warp, name in enumerate(now):
            if name == "load":
                arrives[warp] = cycle + 1 + latency
            if name in ("load", "other") or (name == "store" and cycle >= arrives[warp]):
                at[warp] += 1
            elif warp == 0:
                idle += 1
        cycle += 1
    return cycle, idle, barriers


@pytest.mark.parametrize("seed", range(40))
def test_the_schedule_is_what_stepping_through_all_cycles_gives(seed: int) -> None:
    warps, rng = random_warps(seed), np.random.default_rng(seed)
    latency, issue = int(rng.integers(0, 30)), int(rng.integers(1, 4))
    found = schedule(warps, latency, issue)
    assert (found.cycles, found.waits, [*found.barriers]) == simulated(warps, latency, issue)


def issued(plan: Schedule) -> list[int]:
    """How many things the first warp does in each cycle, loads under way apart."""
    busy = np.zeros(plan.cycles, int)
    for span in plan.spans:
        busy[span.start : span.end] += span.row > 0
    return busy.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_a_warp_does_one_thing_at_a_time_and_always_something(seed: int) -> None:
    assert {*issued(schedule(random_warps(seed), 7, 2))} <= {1}


@pytest.mark.parametrize("name", ["gemm_tiled", "gemm_register", "gemm_warp"])
def test_segments_hold_all_that_the_trace_has_up_to_the_last_product(name: str) -> None:
    run = trace_method(name, SPEC, (0, None))
    found = segments(name, SPEC)
    assert len(found) == len(run.traces)
    barriers = {place for place, counts in run.lines.items() if counts.barriers}
    for trace, some in zip(run.traces, found, strict=True):
        total, stores, before, reads = 0, 0, 0, False
        for step in trace.steps:
            touched = {(access.space, access.action) for access in step.accesses}
            if ("global", "store") in touched:
                break
            if (step.file, step.line) in barriers:
                before, reads = total, False
                continue
            total += step.instructions
            stores += step.instructions * (("shared", "store") in touched)
            reads |= ("shared", "load") in touched
        assert sum(segment.store for segment in some) == stores > 0
        # What comes after the last barrier and reads no tile prepares the output.
        assert sum(each.load + each.arithmetic + each.store for each in some) == (total if reads else before)


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_one_stage_loads_and_computes_in_turn_two_at_once(steps: int) -> None:
    spec = GemmSpec(gemm_m=64, gemm_n=128, gemm_k=8 * steps)
    one, two = ([(s.load > 0, s.multiplies, s.store > 0) for s in segments(name, spec)[0]] for name in KERNELS)
    assert one == steps * [(True, False, True), (False, True, False)]
    assert two == [(True, False, True), *(steps - 1) * [(True, True, True)], (False, True, False)]


KERNELS = ("gemm_register", "gemm_warp")


def test_two_stages_hide_a_load_that_takes_no_longer_than_the_arithmetic() -> None:
    view = pipeline(steps=5, latency=400)
    waits = [[s.end - s.start for s in plan.spans if ROWS[s.row] == "waits"] for plan in (view.one, view.two)]
    after = segments("gemm_register", GemmSpec(64, 128, 40))[0][0].arithmetic
    assert waits[0] == 5 * [400 - after]  # every step waits all of it
    assert len(waits[1]) == 1  # the first alone
    assert view.captions[0].startswith(f"With one stage the warps wait {sum(waits[0]):,} of {view.one.cycles:,} cycles")
    longer = pipeline(steps=5, latency=800)
    assert longer.two.waits > view.two.waits
    assert pipeline(steps=5, latency=0).one.waits == pipeline(steps=5, latency=0).two.waits == 0


@pytest.mark.parametrize(("steps", "latency", "issue"), [(4, 400, 1), (2, 0, 4), (6, 1200, 3), (3, 731, 2)])
def test_cells_show_the_spans(steps: int, latency: int, issue: int) -> None:
    view = pipeline(steps, latency, issue)
    for panel, plan in zip(view.panels, (view.one, view.two), strict=True):
        width = int(panel.col_index[4].replace(",", "")) // 4
        assert width * panel.cols >= plan.cycles
        inside = np.zeros((steps + 1, 5, panel.cols * width), bool)
        for span in plan.spans:
            inside[span.step + 1, span.row, span.start : span.end] = True
        parts = inside.reshape(steps + 1, 5, panel.cols, width).sum(axis=-1)
        values = np.array([int(value or 0) for value in panel.values]).reshape(5, panel.cols)
        filled = np.array([kind != "gap" for kind in panel.cell_kinds]).reshape(5, panel.cols)
        for row, column in np.argwhere(filled):
            assert values[row, column] in np.flatnonzero(parts[:, row, column] == parts[:, row, column].max())
        total = parts.sum(axis=0)
        assert filled[2 * total >= width].all()  # what fills half of a cell is shown
        assert not filled[total == 0].any()
        shown = {(span.row, span.step) for span in plan.spans}
        assert {(row, values[row, column] - 1) for row, column in np.argwhere(filled)} == shown  # and nothing is lost
        assert [*panel.col_lines] == sorted({round(at / width) for at in plan.barriers})


def test_hovering_and_steps_light_the_data_of_one_step() -> None:
    view = pipeline(steps=3, latency=600)
    for name, panel in zip(("one stage", "two stages"), view.panels, strict=True):
        ids = view.ids[name].ravel().tolist()
        for step in "123":
            some = [cell for cell, value in zip(ids, panel.values, strict=True) if value == step]
            assert all(view.linked(cell) == some for cell in some)
            assert set(some) == {*view.frames[int(step)].lit} & {*ids}
    assert not view.frames[0].lit
    assert view.frames[1].caption.startswith("Step 1. One stage: under way in cycles 0 to ")


def test_labels_say_what_happens_when() -> None:
    view = pipeline()
    labels = [label for panel in view.panels for label in panel.labels]
    assert "cycles 0 to 139: the loads of step 1 are under way" in labels
    assert "cycles 0 to 139: waits, nothing" in labels
    assert "cycles 560 to 699: waits for step 1" in labels


def test_warps_that_wait_for_others_say_so() -> None:
    found = schedule([[Segment(0, 3, 0, True)], [Segment(0, 8, 0, True)]], latency=5, issue=1)
    assert (found.cycles, found.waits) == (8, 5)
    assert [span.step for span in found.spans if ROWS[span.row] == "waits"] == [-1]


def test_numbers_out_of_reach_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"steps=0 is not a whole number from 1 to 16.\n  In: views.pipeline\(steps=0, "
    ):
        pipeline(steps=0)
    with pytest.raises(ValueError, match=r"latency=-1 is not .*\n  In: .*\n  Fix: choose latency in this range\."):
        pipeline(latency=-1)
    with pytest.raises(ValueError, match=r"issue=True is not a whole number from 1 to 100\."):
        pipeline(issue=True)
