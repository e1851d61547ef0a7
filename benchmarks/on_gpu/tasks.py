"""What a run does, piece by piece, in the order of importance."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from convlab.executors import cuda
from convlab.executors.empty import empty
from convlab.executors.plans import run_plan
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.kernels.ops import OPS
from convlab.perf.peers import Peer, peers
from convlab.perf.peers.measure import measure_peer
from convlab.perf.recorded import spec_fields
from convlab.perf.times import Time
from convlab.perf.timing import measure
from convlab.perf.trial import check, op_of, random_inputs
from on_gpu.checks import check_method, runs_on
from on_gpu.counters import compare_counters, ncu
from on_gpu.layers import CORE, HEADLINE, METHODS, layers
from on_gpu.machine import describe, measure_ceilings
from on_gpu.sheet import Sheet, Task

__all__ = ["tasks"]

# The peers of the ladder, by name and type of the inputs; on the CPU for a dry run.
PEERS = (("cudnn", "float32"), ("cudnn_nhwc", "float16"), ("cudnn_nhwc_tf32", "float32"), ("cublas", "float32"))
MORE_PEERS = (("cudnn_nhwc", "float32"), ("cudnn_tf32", "float32"))
DRY_PEERS = (("numpy", "float32"),)


def tasks(script: Path, dry: bool) -> Iterator[Task]:
    """Everything, what matters most first: whoever runs it stops where the time is over."""
    device = "emulator" if dry else "cuda"
    yield Task("machine", partial(describe, dry=dry), limit=120)  # PyTorch may be slow to import
    records = [each for each in methods() if runs_on(each, device) and (dry or each.since <= cuda.capability())]
    for record in records:
        yield Task(f"check {record.name}", partial(_check, record, device, 1 if dry else 8))
    if not dry:
        yield Task("ceilings", measure_ceilings)
    found = layers(dry)
    for layer in HEADLINE:
        named = [record for record in records if record.name in METHODS[layer]]
        yield from _timings(layer, found[layer], named, DRY_PEERS if dry else (*PEERS, *MORE_PEERS), dry)
    if dry or ncu() is not None:
        yield Task("counters", partial(compare_counters, script=script, dry=dry), limit=150)
    rest = {layer: spec for layer, spec in found.items() if layer not in HEADLINE}
    for core in (True, False):
        for layer, spec in rest.items():
            named = [record for record in records if (record.name in CORE or record.op != "conv2d") == core]
            yield from _timings(layer, spec, named, DRY_PEERS if dry else PEERS if core else (), dry)


def _check(record: Method, device: str, most: int, sheet: Sheet) -> None:
    check_method(record, device, sheet, most)


def _timings(
    layer: str, spec: Any, records: list[Method], others: tuple[tuple[str, str], ...], dry: bool
) -> Iterator[Task]:
    """A task for every method and every peer that can do a layer."""
    for record in records:
        if record.supports(spec) is None:
            yield Task(f"time {record.name} on {layer}", partial(_time, record, layer, spec, dry))
    known = {peer.name: peer for peer in peers()}
    for name, dtype in others:
        peer = known[name]
        if peer.supports(spec, dtype) is None and not peer.available():
            yield Task(f"time {name} in {dtype} on {layer}", partial(_time_peer, peer, dtype, layer, spec))


def _time(record: Method, layer: str, spec: Any, dry: bool, sheet: Sheet) -> None:
    found = _emulated(record, spec) if dry else measure(spec, record)
    sheet.add("entries", {"method": record.name, **_entry(layer, spec, record.dtype, found)})


def _time_peer(peer: Peer, dtype: str, layer: str, spec: Any, sheet: Sheet) -> None:
    found, kernel = measure_peer(peer, spec, dtype)
    sheet.add("entries", {"peer": peer.name, **_entry(layer, spec, dtype, found, kernel)})


def _entry(layer: str, spec: Any, dtype: str, found: Time, kernel: str = "") -> dict[str, Any]:
    times = {"milliseconds": found.milliseconds, "low": found.low, "high": found.high, "note": found.note}
    what = {"op": op_of(spec), "layer": layer, "spec": spec_fields(spec), "flop": getattr(spec, "flops", 0)}
    return {**what, "dtype": dtype, **times, "kernel": kernel}


def _emulated(record: Method, spec: Any) -> Time:
    """A dry run's time, which says nothing about a GPU: that of the emulator."""
    assert record.plan is not None
    op = OPS[record.op]
    inputs = random_inputs(record.op, spec, lambda name: op.dtype(name, record), record.layout)
    y = empty(op.shapes_in(spec, record.layout)["y"], record.output_dtype)
    start = time.perf_counter()
    run_plan(record.plan(spec), {**inputs, "y": y}, "emulator", observe=False)
    elapsed = 1000 * (time.perf_counter() - start)
    check(record.name, record.op, spec, inputs, y, record.layout, record.products)
    return Time(elapsed, "measured", "the emulator", low=elapsed, high=elapsed, note="dry run, no time is real")
