"""What every benchmark says beside its figures: the machine, the versions, the day; and where results are kept."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "machine", "main", "seconds", "version_of"]

RESULTS = Path(__file__).parent / "results"


def seconds(call: Callable[[], Any], repeats: int = 7) -> float:
    """The median time of a call, after one to warm up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def version_of(package: str) -> str:
    """A package's version."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def machine() -> dict[str, str]:
    """The processor and the versions that a figure depends on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    packages = ("numpy", "numba", "nvidia-cuda-nvrtc")
    return {
        "processor": f"{model}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version_of(name) for name in packages},
    }


def main(name: str, measure: Callable[[], dict[str, Any]]) -> None:
    """Run a benchmark, print its figures, and with ``--record`` keep them in ``results/``."""
    parser = argparse.ArgumentParser(description=f"Measure {name}; see the file's first lines.")
    parser.add_argument("--record", action="store_true", help="keep the figures in benchmarks/results/")
    options = parser.parse_args()
    result = {"benchmark": name, "day": datetime.date.today().isoformat(), "machine": machine(), **measure()}
    text = json.dumps(result, indent=2, ensure_ascii=False)
    print(text)
    if options.record:
        path = RESULTS / f"{name}.json"
        path.write_text(text + "\n", encoding="utf-8")
        print(f"Recorded in {path.relative_to(RESULTS.parent.parent)}.")
