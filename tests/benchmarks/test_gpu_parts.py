"""The parts of the GPU benchmark that a dry run does not reach: its aims, and what Nsight Compute says."""

from __future__ import annotations

import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "benchmarks"), str(ROOT)]

from on_gpu import aims, counters, layers, machine, processes, tasks  # noqa: E402 - found by the paths above
from on_gpu.sheet import Sheet  # noqa: E402

from convlab.executors import cuda  # noqa: E402
from convlab.kernels.ladder import method, methods  # noqa: E402
from convlab.perf.gpus import GPUS, gpu  # noqa: E402

WIDE, NARROW, LARGE, DEPTHWISE, LAYOUT, BARE, EPILOGUE, STEM, STRIDED = layers.HEADLINE


def entry(who, layer, milliseconds, dtype="float32", kernel="", kind="method"):
    return {kind: who, "layer": layer, "milliseconds": milliseconds, "dtype": dtype, "kernel": kernel}


def found(part, entries, sheet=GPUS["H200"]):
    """What is judged of the one aim whose name has such a part."""
    (line,) = [each for each in aims.judge(aims.Times(entries, layers.layers(False), sheet)) if part in each["aim"]]
    return line["found"], line["met"]


def test_a_part_of_the_peak_is_flop_over_time():
    flop = layers.HEADLINE[WIDE].flops
    half_of_it = flop / (gpu("H200").peak_tflops("float32") / 2) / 1e9
    assert found("multi_output, part of the float32 peak", [entry("multi_output", WIDE, half_of_it)]) == (0.5, True)
    assert found("multi_output, part of the float32 peak", [entry("multi_output", WIDE, 2 * half_of_it)])[1] is False


def test_a_rate_is_compared_with_a_peers():
    both = [entry("winograd", WIDE, 2.0), entry("implicit_gemm", WIDE, 3.0)]
    assert found("winograd, times the rate of implicit_gemm", both) == (1.5, True)


@pytest.mark.parametrize("layer", [WIDE, LARGE])
def test_a_peer_counts_only_in_its_type_and_with_the_kernel_that_is_meant(layer):
    ours = entry("implicit_gemm", layer, 2.0)
    part = f"implicit_gemm, times the rate of cudnn ({layer}), where it takes no Winograd"
    sgemm = entry("cudnn", layer, 1.9, kernel="implicit_convolve_sgemm", kind="peer")
    assert found(part, [ours, sgemm]) == (0.95, True)
    assert found(part, [ours, {**sgemm, "kernel": "Winograd_fwd"}]) == (None, None)
    assert found(part, [ours, {**sgemm, "kernel": ""}]) == (None, None)  # it may have been Winograd
    assert found(part, [ours, {**sgemm, "dtype": "float16"}]) == (None, None)


@pytest.mark.parametrize("layer", [NARROW, STEM, STRIDED])
def test_layers_that_winograd_does_not_do_are_judged_whatever_the_kernel(layer):
    both = [entry("implicit_gemm_nhwc", layer, 2.0), entry("cudnn", layer, 1.7, kind="peer")]
    assert found(f"implicit_gemm_nhwc, times the rate of cudnn ({layer})", both) == (0.85, False)


def test_tensor_cores_are_held_against_whatever_kernel_cudnn_takes():
    both = [
        entry("tensor_core_mma", WIDE, 2.0, "float16"),
        entry("cudnn_nhwc", WIDE, 1.5, "float16", kind="peer"),
    ]
    assert found("tensor_core_mma, times the rate of cudnn_nhwc", both) == (0.75, True)


def test_on_hopper_the_tensor_cores_are_held_against_what_mma_sync_can_reach():
    time = layers.HEADLINE[WIDE].flops / (gpu("H200").peak_tflops("float16") * 0.63 * 0.8) / 1e9
    entries = [entry("tensor_core_mma", WIDE, time)]
    assert found("part of what mma.sync can reach", entries) == (0.8, True)
    assert found("part of what mma.sync can reach", entries, GPUS["A100"])[0] > 1


def test_bandwidth_counts_the_compulsory_bytes():
    x = 32 * 32 * 112 * 112 * 4
    time = 2 * x / (gpu("H200").dram_gbs * 0.9) / 1e6
    assert found("depthwise, part of the memory", [entry("depthwise", DEPTHWISE, time)]) == (0.9, True)
    x = 256 * 64 * 56 * 56 * 4
    time = 2 * x / (gpu("H200").dram_gbs * 0.8) / 1e6
    assert found("layout_transform, part", [entry("layout_transform", LAYOUT, time)]) == (0.8, False)


def test_pointwise_is_held_against_the_lower_of_two_limits():
    spec = layers.HEADLINE[NARROW]
    limit = max(
        spec.flops / gpu("H200").peak_tflops("float32") / 1e9,
        spec.traffic("float32").total / gpu("H200").dram_gbs / 1e6,
    )
    assert found(f"part of its roofline ({NARROW})", [entry("pointwise", NARROW, limit / 0.85)]) == (0.85, True)


@pytest.mark.parametrize(("time", "met"), [(10.2, True), (10.4, False)])
def test_an_epilogue_may_cost_three_percent_at_most(time, met):
    entries = [entry("naive", BARE, 10.0), entry("fused_epilogue", EPILOGUE, time)]
    assert found("fused_epilogue", entries)[1] is met


def test_without_times_or_data_sheet_nothing_is_judged():
    lines = aims.judge(aims.Times([], layers.layers(False), None))
    assert {line["met"] for line in lines} == {None}
    assert {line["found"] for line in lines} == {None}


def test_every_named_method_and_layer_is_real():
    every = layers.layers(False)
    assert {name for names in layers.METHODS.values() for name in names} <= {record.name for record in methods()}
    assert aims.SECOND_1X1 in every
    assert len(every) == len({*layers.HEADLINE, *layers.DEEPBENCH, *layers.OTHERS})


def names_of_tasks(monkeypatch, capability):
    """The tasks on a GPU, whatever is here."""
    monkeypatch.setattr(cuda, "capability", lambda: capability)
    monkeypatch.setattr(tasks, "ncu", lambda: "ncu")
    return [task.name for task in tasks.tasks(ROOT / "benchmarks" / "gpu.py", dry=False)]


def test_what_matters_most_comes_first_and_nothing_comes_twice(monkeypatch):
    names = names_of_tasks(monkeypatch, 90)
    kinds = [name.partition(" ")[0] for name in names]
    assert list(dict.fromkeys(kinds)) == ["machine", "check", "ceilings", "time", "counters"]
    assert len(names) == len(set(names))
    headline = names[kinds.index("time") : kinds.index("counters")]
    assert {name.partition(" on ")[2] for name in headline} == set(layers.HEADLINE)


def test_a_gpu_is_not_asked_for_instructions_that_it_lacks(monkeypatch):
    ours = [name for name in names_of_tasks(monkeypatch, 90) if "tensor_core_tf32" in name]
    assert len(ours) > 2
    assert set(ours).isdisjoint(names_of_tasks(monkeypatch, 75))


METRICS = [counters.COUNTED[name] for name in ("sectors_global_load", "conflicts_shared_load")]
CSV = f"""==PROF== Connected to process 7
anything the program prints
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","7","first(const float *, Conv)","{METRICS[0]}","sector","1,234"
"0","7","first(const float *, Conv)","{METRICS[1]}","","n/a"
"0","7","first(const float *, Conv)","gpu__time_duration.sum","ns","5"
"1","7","second","{METRICS[0]}","sector","56"
"""


def test_what_ncu_says_is_read_launch_by_launch():
    assert counters.read(CSV) == [
        ("first", {"sectors_global_load": 1234.0, "conflicts_shared_load": None}),
        ("second", {"sectors_global_load": 56.0}),
    ]
    assert counters.read("==ERROR== ERR_NVGPUCTRPERM") == []


def test_a_metric_of_each_kind_is_asked_for():
    kinds = {name.split("_")[0] for name in counters.COUNTED}
    assert {"sectors", "requests", "wavefronts", "conflicts"} <= kinds
    assert all(" " not in metric for metric in counters.COUNTED.values())


@pytest.fixture
def watched(monkeypatch):
    """Let ncu print a text, after a program that launched some methods; what was asked of it."""

    def start(text, launched, known="", errors=""):
        asked = []

        def output_of(command, seconds):
            asked.append(command)
            if command[1:] == ["--query-metrics"]:
                return known, ""
            Path(command[-1]).write_text(json.dumps(launched), encoding="utf-8")
            assert command[1:3] == ["--clock-control", "none"]
            return text, errors

        monkeypatch.setattr(counters, "ncu", lambda: "ncu")
        monkeypatch.setattr(counters, "output_of", output_of)
        return asked

    return start


def test_launches_on_the_hardware_go_to_their_methods(watched):
    watched(CSV, ["one", "three"])
    kernels = {"one": ["first"], "two": ["second"], "three": ["second"]}
    found = counters._profiled(Path("gpu.py"), kernels, METRICS)
    assert found == {
        "one": [{"sectors_global_load": 1234.0, "conflicts_shared_load": None}],
        "three": [{"sectors_global_load": 56.0}],
    }


@pytest.mark.parametrize(("text", "launched"), [(CSV, ["two"]), ("==ERROR== no permission", ["one"]), ("", [])])
def test_launches_that_do_not_fit_are_refused(watched, text, launched):
    watched(text, launched)
    with pytest.raises(RuntimeError, match=r"ncu saw . launches instead of"):
        counters._profiled(Path("gpu.py"), {"one": ["first"], "two": ["second", "first"]}, METRICS)


def test_without_ncu_it_says_so(monkeypatch):
    monkeypatch.setattr(counters, "ncu", lambda: None)
    with pytest.raises(FileNotFoundError, match=r"Nsight Compute \(ncu\) is not installed"):
        counters._profiled(Path("gpu.py"), {"one": ["first"]}, METRICS)


KNOWN = """Device NVIDIA H200 (GH100)
------------------------------------------------------------ ---------------
Metric Name                                                  Metric Type
------------------------------------------------------------ ---------------
l1tex__t_sectors_pipe_lsu_mem_global_op_ld                   Counter
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld         Counter
"""


@pytest.fixture
def sheet(tmp_path):
    made = Sheet(tmp_path / "gpu.json")
    made.start({"benchmark": "gpu"})
    return made


def test_a_metric_that_the_gpu_lacks_costs_itself_alone(watched, sheet):
    watched("", [], KNOWN)
    assert counters._known_metrics(sheet) == METRICS
    lacking = set(counters.COUNTED.values()) - set(METRICS)
    assert sheet.data["why_not"] == {f"ncu {metric}": "This GPU has no such metric." for metric in lacking}


def test_where_the_metrics_are_not_listed_all_are_asked_for(watched, sheet):
    watched("", [], "==ERROR== unrecognised option")
    assert counters._known_metrics(sheet) == list(counters.COUNTED.values())
    assert sheet.data["why_not"] == {}


@pytest.fixture
def one_method(monkeypatch):
    monkeypatch.setattr(counters, "_records", lambda: iter([method("naive")]))


def test_counts_of_the_hardware_stand_beside_the_emulators(watched, sheet, one_method):
    asked = watched(CSV.replace("first(", "conv_naive("), ["naive"], KNOWN)
    counters.compare_counters(sheet, Path("gpu.py"), dry=False)
    assert asked[1][asked[1].index("--metrics") + 1] == ",".join(METRICS)
    (entry,) = Sheet(sheet.path).data["counters"]
    assert entry["hardware"] == {"sectors_global_load": 1234.0, "conflicts_shared_load": None}
    assert entry["emulator"]["sectors_global_load"] > 0


def test_the_emulators_counts_are_there_when_ncu_fails(watched, sheet, one_method):
    watched("", [], KNOWN, errors="==ERROR== ERR_NVGPUCTRPERM")
    with pytest.raises(RuntimeError, match="ERR_NVGPUCTRPERM"):
        counters.compare_counters(sheet, Path("gpu.py"), dry=False)
    (entry,) = Sheet(sheet.path).data["counters"]
    assert entry["hardware"] == {}
    assert entry["emulator"]["sectors_global_load"] > 0


def test_what_takes_too_long_ends_with_all_that_it_started(tmp_path):
    note = tmp_path / "child"
    code = "import subprocess, sys, time; from pathlib import Path; "
    code += "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
    code += f"Path({str(note)!r}).write_text(str(child.pid)); time.sleep(60)"
    with pytest.raises(TimeoutError, match=r" did not end within 3 s\.$"):
        processes.output_of([sys.executable, "-c", code], 3)
    with suppress(psutil.NoSuchProcess):
        child = psutil.Process(int(note.read_text()))
        until(lambda: child.status() == psutil.STATUS_ZOMBIE, 10)  # a killed process needs a moment to end


def until(true, seconds):
    """Wait for something that happens soon; fail where it does not."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_what_ends_in_time_gives_its_output():
    code = "import sys; print('counts'); print('words', file=sys.stderr)"
    assert processes.output_of([sys.executable, "-c", code], 60) == ("counts\n", "words\n")


def test_where_headers_are_missing_the_shipped_ptx_is_used(monkeypatch):
    monkeypatch.setenv("CONVLAB_HIDE_NVRTC", "")
    assert machine.prefer_shipped_ptx() == ""
    assert not machine.os.environ["CONVLAB_HIDE_NVRTC"]

    def fail(*_):
        raise machine.CompileError("tensor_core.cu:1: no mma.h\nmore")

    monkeypatch.setattr(machine, "compile", fail)
    assert machine.prefer_shipped_ptx() == "tensor_core.cu:1: no mma.h"
    assert machine.os.environ["CONVLAB_HIDE_NVRTC"] == "1"


def test_a_sheet_is_whole_after_every_entry_and_goes_on_where_it_ended(tmp_path):
    sheet = Sheet(tmp_path / "gpu.json")
    sheet.start({"benchmark": "gpu"})
    sheet.add("entries", {"method": "naive"})
    again = Sheet(tmp_path / "gpu.json")
    again.say("why_not", "ncu", "It is not there.")
    assert json.loads((tmp_path / "gpu.json").read_text()) == again.data
    assert again.data["entries"] == [{"method": "naive"}]
    assert [path.name for path in tmp_path.iterdir()] == ["gpu.json"]
