"""``convlab bench``: the times that were recorded on GPUs, as tables, as JSON, or as a picture of one layer."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from convlab.errors import ConvlabError
from convlab.perf.recorded import RESULTS, records

__all__ = ["run"]

Entry = Mapping[str, Any]
Record = Mapping[str, Any]

_RECORD = "  To record: python benchmarks/gpu.py, in a clone of convlab, on a machine with an NVIDIA GPU and CuPy."
_NONE = f"No times of a GPU are recorded yet in {{}}.\n{_RECORD}"
_VERDICTS = {True: "met", False: "missed", None: "unknown"}


def run(options: Namespace) -> str:
    """Do what ``convlab bench`` was asked for; returns what to print.

    Raises ``ConvlabError`` where nothing recorded fits what was asked for, or a picture cannot be written.
    """
    folder = Path(options.folder) if options.folder else None
    if folder is not None and not folder.is_dir():
        raise ConvlabError(f"There is no folder {str(folder)!r}.\n  Fix: name the one that holds gpu_….json.")
    everything = list(records(folder))
    if not everything and not options.plot:
        return "[]" if options.json else _NONE.format(folder or RESULTS)
    found = [_only(record, options.layer) for record in everything if _asked(record["machine"]["gpu"], options.gpu)]
    found = [record for record in found if record["entries"]]
    if not found:
        raise ConvlabError(_nothing(everything, options, folder))
    if options.plot:
        _save(found[0], options.plot)
    return json.dumps(found, indent=1, ensure_ascii=False) if options.json else "\n\n".join(map(_text, found))


def _asked(name: str, wanted: str | None) -> bool:
    return not wanted or wanted.casefold() in name.casefold()


def _only(record: Record, layer: str | None) -> Record:
    """The same record with the entries of the layers whose names have such a part."""
    return {**record, "entries": [entry for entry in record["entries"] if _asked(entry["layer"], layer)]}


def _nothing(everything: Sequence[Record], options: Namespace, folder: Path | None) -> str:
    if not everything:
        return _NONE.format(folder or RESULTS)
    gpus = ", ".join(dict.fromkeys(record["machine"]["gpu"] for record in everything))
    layers = "; ".join(dict.fromkeys(entry["layer"] for record in everything for entry in record["entries"]))
    asked = {"--gpu": options.gpu, "--layer": options.layer}
    words = " and ".join(f"{name} {value!r}" for name, value in asked.items() if value)
    return f"Nothing is recorded for {words}.\n  The GPUs are: {gpus}.\n  The layers are: {layers}."


def _text(record: Record) -> str:
    machine = record["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in ("driver", "cuda", "torch") if name in machine)
    parts = [f"{machine['gpu']}, {record['day']}{f' ({versions})' if versions else ''}", *_verdicts(record)]
    for layer, entries in _by_layer(record).items():
        rows = [("", "type", "ms", "least", "most", "TFLOP/s", "kernel"), *map(_row, entries)]
        parts.append(f"{layer}\n{_table(rows)}")
    return "\n\n".join(parts)


def _by_layer(record: Record) -> dict[str, list[Entry]]:
    """The entries of each layer, the fastest first."""
    layers = dict.fromkeys(entry["layer"] for entry in record["entries"])
    by_time = sorted(record["entries"], key=lambda entry: float(entry["milliseconds"]))
    return {layer: [entry for entry in by_time if entry["layer"] == layer] for layer in layers}


def _name(entry: Entry) -> str:
    return str(entry.get("method") or f"{entry['peer']} (peer)")


def _rate(entry: Entry) -> float:
    """TFLOP/s; 0 where nothing is computed."""
    return float(entry.get("flop") or 0) / float(entry["milliseconds"]) / 1e9


def _row(entry: Entry) -> tuple[str, ...]:
    times = (f"{entry[name]:.4g}" for name in ("milliseconds", "low", "high"))
    return _name(entry), entry["dtype"], *times, f"{_rate(entry):.4g}" if _rate(entry) else "", entry["kernel"][:60]


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"  {line}".rstrip() for line in lines)


def _verdicts(record: Record) -> list[str]:
    """What was aimed at, what failed, and how far the emulator's counters are the hardware's."""
    parts = []
    if record.get("aims"):
        rows = [("aim", "wanted", "found", "")]
        rows += [
            (a["aim"], a["wanted"], "" if a["found"] is None else f"{a['found']:g}", _VERDICTS[a["met"]])
            for a in record["aims"]
        ]
        parts.append(_table(rows))
    checks = record.get("checks", ())
    if checks:
        specs = sum(check["specs"] for check in checks)
        parts.append(f"{len(checks)} methods gave the right results on this GPU, for {specs} specs.")
    compared = [same for launch in record.get("counters", ()) for same in _same(launch)]
    if compared:
        parts.append(
            f"{sum(compared)} of {len(compared)} counters of the emulator are those of the hardware, within 1 %."
        )
    failures = record.get("failures", {})
    if failures:
        parts.append("failed:\n" + "\n".join(f"  {task}: {why.splitlines()[0]}" for task, why in failures.items()))
    return parts


def _same(launch: Mapping[str, Any]) -> list[bool]:
    """Of each counter that both have, whether they agree."""
    pairs = [(launch["emulator"][name], value) for name, value in launch["hardware"].items() if value is not None]
    return [abs(ours - theirs) <= 0.01 * max(ours, theirs) for ours, theirs in pairs]


def _save(record: Record, file: str) -> None:
    """Draw the first of the record's layers into a file."""
    from convlab.bench_figure import draw  # noqa: PLC0415 - Matplotlib is slow to import
    from convlab.perf.picture import form_of  # noqa: PLC0415 - the same

    layer, entries = next(iter(_by_layer(record).items()))
    bars = [(f"{_name(entry)}, {entry['dtype']}", entry) for entry in entries]
    title = f"{layer}\non {record['machine']['gpu']}, recorded on {record['day']}"
    form = form_of(file)
    try:
        draw(bars, title).savefig(file, format=form)
    except OSError as error:
        raise ConvlabError(f"{file} cannot be written: {error.strerror}.\n  Fix: name another file.") from error
