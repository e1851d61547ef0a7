"""``convlab bench`` on records as the GPU benchmark writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convlab import cli

LAYERS = ("3×3 64→64, 56²", "depthwise 3×3, 32, 112²")


def entry(layer: str, milliseconds: float, flop: float = 4e9, **named: Any) -> dict[str, Any]:
    times = {"milliseconds": milliseconds, "low": milliseconds * 0.9, "high": milliseconds * 1.2, "note": ""}
    return {
        **named,
        "op": "conv2d",
        "layer": layer,
        "spec": {},
        "flop": flop,
        "dtype": "float32",
        **times,
        "kernel": "",
    }


def record(**more: Any) -> dict[str, Any]:
    entries = [entry(LAYERS[0], 2.0, method="naive"), entry(LAYERS[1], 0.5, method="depthwise")]
    entries += [{**entry(LAYERS[0], 0.4, peer="cudnn"), "kernel": "sgemm"}]
    return {
        "benchmark": "gpu",
        "day": "2026-11-30",
        "machine": {"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13000"},
        "entries": entries,
        **more,
    }


@pytest.fixture
def bench(tmp_path, capsys, monkeypatch):
    """Run the command on a record; its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, result=None, name="gpu_h200.json"):
        (tmp_path / name).write_text(json.dumps(result or record()), encoding="utf-8")
        return cli.main(["bench", "--folder", str(tmp_path), *arguments]), *capsys.readouterr()

    return run


def test_without_results_it_says_so_and_how_to_record_them(tmp_path, capsys):
    assert cli.main(["bench", "--folder", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"No times of a GPU are recorded yet in {tmp_path}.\n")
    assert "python benchmarks/gpu.py" in output
    assert cli.main(["bench", "--folder", str(tmp_path), "--json"]) == 0
    assert capsys.readouterr().out == "[]\n"
    assert cli.main(["bench", "--folder", str(tmp_path), "--plot", "layer.svg"]) == 2
    assert "No times of a GPU are recorded yet" in capsys.readouterr().err


def test_what_was_recorded_is_a_table_for_each_layer_the_fastest_first(bench):
    code, output, errors = bench()
    assert (code, errors) == (0, "")
    assert output.startswith("NVIDIA H200, 2026-11-30 (driver 580.1, cuda 13000)\n")
    lines = output.splitlines()
    at = lines.index(LAYERS[0])
    assert lines[at + 1].split() == ["type", "ms", "least", "most", "TFLOP/s", "kernel"]
    assert lines[at + 2].split() == ["cudnn", "(peer)", "float32", "0.4", "0.36", "0.48", "10", "sgemm"]
    assert lines[at + 3].split() == ["naive", "float32", "2", "1.8", "2.4", "2"]
    assert LAYERS[1] in lines


def test_what_computes_nothing_has_no_rate(bench):
    moved = record(entries=[entry("layout", 2.0, flop=0, method="layout_transform")])
    assert bench(result=moved)[1].splitlines()[-1].split() == ["layout_transform", "float32", "2", "1.8", "2.4"]


def test_aims_checks_counters_and_failures_are_told(bench):
    aims = [
        {"aim": "naive, part of the peak", "wanted": "at least 0.08", "found": 0.09, "met": True},
        {"aim": "winograd", "wanted": "at least 1.5", "found": None, "met": None},
    ]
    counts = [{"method": "naive", "kernel": "f", "emulator": {"a": 1000, "b": 7}, "hardware": {"a": 1005.0, "b": 8.0}}]
    failures = {"check tiled": "AssertionError: off\nfar"}
    checks = [{"method": "naive", "specs": 8}, {"method": "winograd", "specs": 5}]
    output = bench(result=record(aims=aims, checks=checks, counters=counts, failures=failures))[1]
    assert "  naive, part of the peak  at least 0.08  0.09   met\n" in output
    assert "  winograd                 at least 1.5          unknown\n" in output
    assert "2 methods gave the right results on this GPU, for 13 specs." in output
    assert "1 of 2 counters of the emulator are those of the hardware, within 1 %." in output
    assert "failed:\n  check tiled: AssertionError: off\n" in output


def test_a_layer_or_a_gpu_is_chosen_by_a_part_of_its_name(bench):
    output = bench("--layer", "DEPTHWISE", "--gpu", "h200")[1]
    assert LAYERS[1] in output
    assert LAYERS[0] not in output


def test_what_was_not_recorded_is_answered_with_what_was(bench):
    code, _, errors = bench("--gpu", "T4", "--layer", "7×7")
    assert code == 2
    assert errors == (
        "convlab: Nothing is recorded for --gpu 'T4' and --layer '7×7'.\n"
        f"  The GPUs are: NVIDIA H200.\n  The layers are: {LAYERS[0]}; {LAYERS[1]}.\n"
    )


def test_json_is_what_was_recorded(bench):
    assert json.loads(bench("--json")[1]) == [record()]


def test_a_layer_is_drawn_with_its_names_and_times(bench, tmp_path):
    code, _, errors = bench("--layer", "3×3 64", "--plot", "layer.svg")
    assert (code, errors) == (0, "")
    svg = (tmp_path / "layer.svg").read_text(encoding="utf-8")
    assert "<!-- cudnn (peer), float32 -->" in svg
    assert "<!-- 0.4 -->" in svg
    assert "what people use instead" in svg
    assert "naive, float32" in svg


@pytest.mark.parametrize(
    ("file", "words"), [("layer.txt", "names no kind of picture"), ("nowhere/layer.svg", "cannot be written")]
)
def test_a_picture_that_cannot_be_is_refused(bench, file, words):
    code, _, errors = bench("--plot", file)
    assert code == 2
    assert words in errors
    assert "Fix:" in errors


def test_a_folder_that_is_none_is_refused(capsys):
    assert cli.main(["bench", "--folder", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("convlab: There is no folder 'nowhere'.")
