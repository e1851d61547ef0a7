"""Times that were recorded on real GPUs: ``benchmarks/results/gpu_*.json``, which comes with the package.

A file is what ``benchmarks/gpu.py`` wrote on one machine on one day::

    {"benchmark": "gpu", "day": "…", "machine": {"gpu": "…", …}, "entries": [
        {"method" or "peer": "…", "op": "…", "spec": {…}, "dtype": "…", "milliseconds": …, "low": …, "high": …, …}]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from convlab.course import root
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.gpus import recognise
from convlab.perf.times import Time
from convlab.perf.trial import op_of

__all__ = ["RESULTS", "recorded", "records", "spec_fields"]

RESULTS = "benchmarks/results"


def recorded(
    spec: Any, method: str, gpu: str | None = None, dtype: str | None = None, folder: Path | None = None
) -> Time | None:
    """The newest time that was recorded of a method or a peer, or ``None`` where there is none.

    >>> from convlab.spec import ConvSpec
    >>> recorded(ConvSpec(n=1, c=1, h=2, w=2, k=1, r=1, s=1), "naive") is None
    True

    Parameters: ``gpu`` is a name in ``GPUS``, any GPU without it; ``dtype`` tells a peer's times apart, which has
    several; ``folder`` is another than the one that comes with the package. Raises ``ValueError`` for an unknown name.
    """
    wanted, model = {"op": op_of(spec), "spec": spec_fields(spec)}, gpu and find_gpu(gpu)
    for record in records(folder):
        where = record["machine"]["gpu"]
        if model is None or recognise(where) == model:
            for entry in record["entries"]:
                named = method in (entry.get("method"), entry.get("peer"))
                if named and entry.items() >= wanted.items() and dtype in (None, entry["dtype"]):
                    low, high, note = entry.get("low"), entry.get("high"), entry.get("note") or ""
                    return Time(entry["milliseconds"], "recorded", where, record["day"], low, high, note)
    return None


def records(folder: Path | None = None) -> Iterator[dict[str, Any]]:
    """All recorded files, the newest day first; one of a dry run, in which no time is real, is none of them."""
    files = sorted((folder or root() / RESULTS).glob("gpu_*.json"))
    found: list[dict[str, Any]] = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    real = [record for record in found if record.get("benchmark") == "gpu"]
    yield from sorted(real, key=lambda record: str(record["day"]), reverse=True)


def spec_fields(spec: Any) -> dict[str, Any]:
    """The sizes of a spec as JSON holds them.

    >>> from convlab.spec import GemmSpec
    >>> spec_fields(GemmSpec(2, 3, 4))
    {'gemm_m': 2, 'gemm_n': 3, 'gemm_k': 4}
    """
    fields: dict[str, Any] = json.loads(json.dumps(asdict(spec)))
    return fields
