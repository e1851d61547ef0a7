"""The traffic picture against what the kernels' definitions make them read and write, and against their runs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from convlab.executors.plans import run_plan
from convlab.kernels.ladder import method
from convlab.spec import BlockSpec, ConvSpec, SeparableSpec
from convlab.views.epilogue import EpilogueView, epilogue, traffic

# Whole sectors, so that what is touched of an array is all of it.
CONV = ConvSpec(n=2, c=3, h=10, w=8, k=5, r=3, s=2, padding=(1, 1, 0, 1))
SPECS = [
    BlockSpec(CONV, relu=True, pool=True),
    BlockSpec(CONV, relu=False, pool=False),
    SeparableSpec(ConvSpec(n=2, c=3, h=10, w=8, k=3, r=3, s=3, padding=1, groups=3), k=5),
]
SIZES = {
    **{"x": 4 * 2 * 3 * 10 * 8, "w": 4 * 5 * 3 * 3 * 2, "bias": 20, "scale": 20, "shift": 20},
    **{"conv": 4 * 2 * 5 * 10 * 8, "between": 4 * 2 * 3 * 10 * 8},
    **{"w_depthwise": 4 * 27, "bias_depthwise": 12, "w_pointwise": 4 * 15, "bias_pointwise": 20},
}
# What each kernel has to read and to write, by what it is for.
EXPECTED = {
    "block, pooled": [
        ["reads x", "reads w", "reads bias", "writes conv"],
        ["reads conv", "reads scale", "reads shift", "writes conv"],
        ["reads conv", "writes y"],
        ["reads x", "reads w", "reads bias", "reads scale", "reads shift", "writes y"],
    ],
    "block": [
        ["reads x", "reads w", "reads bias", "writes y"],
        ["reads y", "reads scale", "reads shift", "writes y"],
        ["reads x", "reads w", "reads bias", "reads scale", "reads shift", "writes y"],
    ],
    "separable": [
        ["reads x", "reads w_depthwise", "reads bias_depthwise", "writes between"],
        ["reads between", "reads w_pointwise", "reads bias_pointwise", "writes y"],
        [
            "reads x",
            "reads w_depthwise",
            "reads bias_depthwise",
            "reads w_pointwise",
            "reads bias_pointwise",
            "writes y",
        ],
    ],
}
CASES = [*zip(SPECS, EXPECTED.values(), (4 * 2 * 5 * 5 * 4, 4 * 2 * 5 * 80, 4 * 2 * 5 * 80), strict=True)]


def shown(view: EpilogueView) -> list[dict[str, int]]:
    """Verb and array of each cell, with its bytes, kernel by kernel."""
    texts = [[value.rsplit(": ", 1) for value in panel.values] for panel in view.panels[:-1]]
    return [{words: int(number.replace(",", "")) for words, number in panel} for panel in texts]


@pytest.mark.parametrize(("spec", "expected", "output"), CASES, ids=EXPECTED)
def test_each_kernel_moves_each_of_its_arrays_once(
    spec: BlockSpec | SeparableSpec, expected: list[list[str]], output: int
) -> None:
    found = shown(epilogue(spec))
    assert [sorted(kernel) for kernel in found] == [sorted(kernel) for kernel in expected]
    sizes = SIZES | {"y": output}
    assert found == [{words: sizes[words.split()[1]] for words in kernel} for kernel in found]


@pytest.mark.parametrize("spec", SPECS, ids=EXPECTED)
def test_l1_bytes_are_those_of_a_run(spec: BlockSpec | SeparableSpec) -> None:
    rng = np.random.default_rng(3)
    if isinstance(spec, BlockSpec):
        names = ("block_separate", "fused_epilogue")
        shapes = {"x": CONV.input_shape, "w": CONV.weight_shape, "bias": (5,), "scale": (5,), "shift": (5,)}
    else:
        names = ("separable_two_kernels", "separable_fused")
        pointwise = {"w_pointwise": (5, 3, 1, 1), "bias_pointwise": (5,)}
        shapes = {"x": (2, 3, 10, 8), "w_depthwise": (3, 1, 3, 3), "bias_depthwise": (3,), **pointwise}
    view = epilogue(spec)
    for name in names:
        tensors = {each: rng.standard_normal(shape).astype("f4") for each, shape in shapes.items()}
        tensors["y"] = np.full(spec.output_shape, np.nan, "f4")
        plan = method(name).plan
        assert plan is not None
        runs = run_plan(plan(spec), tensors, device="emulator")
        kernels = traffic(spec, name)
        assert [kernel.entry for kernel in kernels] == [run.kernel for run in runs]
        for kernel, run in zip(kernels, runs, strict=True):
            counters = run.counters
            for verb, counted in (("reads", counters.sectors_global_load), ("writes", counters.sectors_global_store)):
                assert sum(each.counted for each in kernel.crossings if each.verb == verb) == 32 * counted
        everything = sum(run.counters.sectors_global_load + run.counters.sectors_global_store for run in runs)
        assert view.counted[name] == 32 * everything
        assert f"{32 * everything:,}" in view.panels[-1].values


@pytest.mark.parametrize("spec", SPECS, ids=EXPECTED)
def test_what_lies_between_is_marked_and_is_what_fusion_saves(spec: BlockSpec | SeparableSpec) -> None:
    view = epilogue(spec)
    separate, fused = view.least.values()
    kinds = [(panel.cell_kinds[row], panel.values[row]) for panel in view.panels[:-1] for row in range(panel.rows)]
    wasted = [int(value.rsplit(": ", 1)[1].replace(",", "")) for kind, value in kinds if kind == "waste"]
    assert separate - fused == sum(wasted) > 0
    assert f"{sum(wasted):,} are no longer written and read between kernels" in view.captions[0]
    assert [kind for kind, _ in kinds].count("output") == 2
    assert [kind for kind, _ in kinds].count("input") == 2
    assert {value.split()[1] for kind, value in kinds if kind == "filter"} & {"x:", "y:", "conv:", "between:"} == set()
    assert "waste" not in view.panels[-2].cell_kinds


def test_pointing_at_a_tensor_between_lights_it_wherever_it_crosses() -> None:
    view = epilogue(SPECS[0])
    labels = [label for panel in view.panels for label in panel.labels]
    written = next(i for i, label in enumerate(labels) if label.startswith("conv_naive writes conv"))
    lit = [labels[cell].split(":")[0] for cell in view.linked(written)]
    assert lit == [
        "scale_shift_relu reads conv",
        "scale_shift_relu writes conv",
        "max_pool reads conv",
        "block_separate",
    ]


def test_an_output_is_another_thing_than_what_lay_in_its_place_before() -> None:
    view = epilogue(SPECS[1])
    labels = [label.split(":")[0] for panel in view.panels for label in panel.labels]
    lit = {each: [labels[cell] for cell in view.linked(labels.index(each))] for each in labels}
    assert lit["conv_naive writes y"] == ["scale_shift_relu reads y", "block_separate"]
    assert lit["scale_shift_relu writes y"] == ["fused_epilogue writes y", "block_separate"]


def test_pointing_at_a_total_lights_all_that_it_counts() -> None:
    view = epilogue(SPECS[0])
    total, fused = view.ids["totals"][:, 0].tolist()
    separate = [
        cell for name in ("conv_naive", "scale_shift_relu", "max_pool") for cell in view.ids[name].ravel().tolist()
    ]
    assert view.linked(total) == separate
    assert view.linked(fused) == view.ids["fused_epilogue_pool"].ravel().tolist()


def test_in_place_without_pooling_y_is_between_until_the_last_kernel_writes_it() -> None:
    panels = epilogue(SPECS[1]).panels
    kinds = [
        dict(zip((value.split(":")[0] for value in panel.values), panel.cell_kinds, strict=True)) for panel in panels
    ]
    assert (kinds[0]["writes y"], kinds[1]["reads y"], kinds[1]["writes y"]) == ("waste", "waste", "output")


def test_bars_are_in_proportion_and_words_say_both_measures() -> None:
    view = epilogue(SPECS[0])
    cells = [(bar, label) for panel in view.panels[:-1] for bar, label in zip(panel.bars, panel.labels, strict=True)]
    numbers = [re.findall(r"([\d,]+) (?:bytes|counted)", label) for _, label in cells]
    least = [int(first.replace(",", "")) for first, _ in numbers]
    assert [bar for bar, _ in cells] == [number / max(least) for number in least]
    assert all(caption in view.alt for caption in view.captions)
    assert view.captions[1].startswith("Counted at the L1, in sectors of 32 bytes, it is ")


def test_sizes_that_a_rung_does_not_support_are_refused() -> None:
    conv = ConvSpec(n=1, c=1, h=1, w=1, k=70_000, r=1, s=1)
    with pytest.raises(ValueError, match=r"block_separate does not support this: .*\n  In: BlockSpec.*\n  Fix: choose"):
        epilogue(BlockSpec(conv))
