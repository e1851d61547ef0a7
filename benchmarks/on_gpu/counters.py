"""The emulator's counters beside those of the hardware, by Nsight Compute, launch by launch."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from convlab.emulator.observers.counters import METRICS
from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.executors.run import Run
from convlab.kernels.ladder import methods
from convlab.kernels.layers import supported
from convlab.kernels.method import Method
from convlab.kernels.ops import OPS
from convlab.perf.trial import random_inputs
from on_gpu.checks import runs_on
from on_gpu.processes import output_of
from on_gpu.sheet import Sheet

__all__ = ["COUNTED", "compare_counters", "launch_all", "ncu", "read"]

# Our name → the one metric of Nsight Compute that it stands for.
COUNTED = {
    name: metric
    for name, metric in METRICS.items()
    if re.fullmatch(r"(l1tex__\w+|smsp__inst_executed_op_shared_\w+)\.sum", metric)
}
LIMIT_S, QUERY_S = 120.0, 20.0
_FOLDERS = {"/usr/local": "cuda*/bin/ncu", "/opt/nvidia/nsight-compute": "*/ncu"}  # where it is, if not in the path


def ncu() -> str | None:
    """Where Nsight Compute is."""
    found = [file for folder, name in _FOLDERS.items() for file in sorted(Path(folder).glob(name), reverse=True)]
    return shutil.which("ncu") or next(map(str, found), None)


def compare_counters(sheet: Sheet, script: Path, dry: bool) -> None:
    """Count every rung's launches on its first layer: here, and then on the hardware, as far as there is one."""
    kernels: dict[str, list[str]] = {}
    for record in _records():
        runs = _runs(record, "emulator")
        kernels[record.name] = [run.kernel for run in runs]
        for run in runs:
            ours = {counter: run.counters[counter] for counter in COUNTED}
            sheet.add("counters", {"method": record.name, "kernel": run.kernel, "emulator": ours, "hardware": {}})
    if not dry:
        _add_hardware(sheet, _profiled(script, kernels, _known_metrics(sheet)))


def _add_hardware(sheet: Sheet, counted: Mapping[str, list[dict[str, Any]]]) -> None:
    """Each launch's counts beside the emulator's, whose launches are in the same order."""
    for name, launches in counted.items():
        entries = [entry for entry in sheet.data["counters"] if entry["method"] == name]
        for entry, hardware in zip(entries, launches, strict=True):
            entry["hardware"] = hardware
    sheet.save()


def _known_metrics(sheet: Sheet) -> list[str]:
    """Those of the metrics that this GPU has: asked for another, Nsight Compute would count nothing at all."""
    found = ncu()
    said = "" if found is None else output_of([found, "--query-metrics"], QUERY_S)[0]
    names = {line.split()[0] for line in said.splitlines() if line.strip()}
    known = [metric for metric in COUNTED.values() if metric.partition(".")[0] in names]
    if not known:  # it lists them in another way: ask for all
        return list(COUNTED.values())
    for metric in set(COUNTED.values()) - set(known):
        sheet.say("why_not", f"ncu {metric}", "This GPU has no such metric.")
    return known


def launch_all(report: Path) -> None:
    """What Nsight Compute watches: the same launches on the GPU, in the same order; the report says of whom."""
    launched = []
    for record in _records():
        try:
            _runs(record, "cuda")
        except Exception as error:  # the others can still be counted
            print(f"{record.name}: {error}", file=sys.stderr)
        else:
            launched.append(record.name)
    report.write_text(json.dumps(launched), encoding="utf-8")


def _records() -> Iterator[Method]:
    """The methods that both can run."""
    return (record for record in methods() if runs_on(record, "emulator"))


def _runs(record: Method, device: str) -> list[Run]:
    """The launches of a method on the first layer that it supports."""
    assert record.plan is not None
    op, spec = OPS[record.op], next(iter(supported(record).values()))
    inputs = random_inputs(record.op, spec, lambda name: op.dtype(name, record), record.layout)
    y = empty(op.shapes_in(spec, record.layout)["y"], record.output_dtype)
    return run_plan(record.plan(spec), {**inputs, "y": y}, device)


def _profiled(
    script: Path, kernels: Mapping[str, list[str]], metrics: Sequence[str]
) -> dict[str, list[dict[str, Any]]]:
    """Have `launch_all` watched; raises where that fails, or where other kernels were seen than launched."""
    found = ncu()
    if found is None:
        raise FileNotFoundError("Nsight Compute (ncu) is not installed.")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "launched.json"
        command = [found, "--clock-control", "none", "--csv", "--print-units", "base"]
        command += ["--metrics", ",".join(metrics), sys.executable, str(script), "--launch-all", str(report)]
        output, errors = output_of(command, LIMIT_S)
        launched = json.loads(report.read_text(encoding="utf-8")) if report.exists() else []
    known = {kernel for each in kernels.values() for kernel in each}
    rows = [(kernel, counts) for kernel, counts in read(output) if kernel in known]
    wanted = [kernel for name in launched for kernel in kernels[name]]
    if not wanted or [kernel for kernel, _ in rows] != wanted:
        said = " ".join((errors or output).split())[-400:]
        raise RuntimeError(f"ncu saw {len(rows)} launches instead of {len(wanted)}. It said: {said}")
    counted = iter(rows)
    return {name: [next(counted)[1] for _ in kernels[name]] for name in launched}


def read(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Each launch in ncu's CSV: the kernel's name, and what was counted by our names."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    ours: Mapping[str, str] = {metric: name for name, metric in COUNTED.items()}
    launches: dict[int, tuple[str, dict[str, Any]]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        kernel = row["Kernel Name"].partition("(")[0].strip()
        counts = launches.setdefault(int(row["ID"]), (kernel, {}))[1]
        if row["Metric Name"] in ours:
            counts[ours[row["Metric Name"]]] = _number(row["Metric Value"])
    return [launches[number] for number in sorted(launches)]


def _number(text: str) -> float | None:
    """A count, written with separators of thousands; ``None`` for what the GPU does not have."""
    digits = text.replace(",", "")
    return float(digits) if re.fullmatch(r"\d+(\.\d+)?", digits) else None
