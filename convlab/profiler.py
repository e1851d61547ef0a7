"""``convlab profile``: methods on one convolution, or a whole network; as text or JSON, with a picture as a file."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from convlab.emulator import Counters
from convlab.errors import ConvlabError
from convlab.nets.profile import profile as profile_network
from convlab.perf.picture import form_of
from convlab.perf.profile import profile
from convlab.perf.profile_record import Profile
from convlab.perf.profile_table import Profiles, Refusal
from convlab.spec import ConvSpec

__all__ = ["run"]


def run(options: Namespace) -> str:
    """Do what ``convlab profile`` was asked for; returns what to print.

    Raises ``ConvlabError`` for a mistake in the command or a file that cannot be written, and what
    `convlab.perf.profile.profile` raises.
    """
    _check_what(options)
    if options.plot:
        form_of(options.plot)
    how = {"device": options.device, "gpu": options.gpu, "dtype": options.dtype}
    return _network(options, how) if options.net else _methods(options, how)


def _check_what(options: Namespace) -> None:
    """Either a convolution, or a network."""
    example = "convlab profile 1,64,56,56 --filters 64,3,3, or convlab profile --net resnet50"
    if options.net and (options.input or options.filters):
        raise ConvlabError(f"--net takes the place of INPUT and --filters.\n  Fix: {example}.")
    if not options.net and not (options.input and options.filters):
        raise ConvlabError(f"INPUT with --filters, or --net, must say what to profile.\n  Fix: {example}.")
    if options.csv and not options.net:
        raise ConvlabError("--csv has a row for each layer of a network.\n  Fix: add --net, or use --json.")


def _network(options: Namespace, how: dict[str, Any]) -> str:
    names = list(dict.fromkeys(options.method)) or "auto"
    for path in filter(None, (options.csv, options.plot)):
        if not Path(path).parent.is_dir():  # told now, not after the work
            raise _cannot(path, "No such file or directory")
    if options.sample:
        how["sample"] = _sample(options.sample)
    found = profile_network(options.net, options.batch, names, **how)
    if options.csv:
        _write(options.csv, found.to_csv)
    if options.plot:
        _write(options.plot, found.plot().save)
    if not options.json:
        return repr(found)
    document = {"network": found.network.name, "gpu": found.gpu.name, **found.totals, "layers": found.records()}
    return json.dumps(document, indent=1, ensure_ascii=False)


def _methods(options: Namespace, how: dict[str, Any]) -> str:
    spec = _spec(options)
    names = list(dict.fromkeys(options.method)) or ["naive"]
    how["sample"] = _sample(options.sample or "auto")
    found = profile(spec, names[0] if len(names) == 1 else names, **how)
    if options.plot:
        _write(options.plot, found.plot(options.level).save)
    return _as_json(found, spec) if options.json else repr(found)


def _spec(options: Namespace) -> ConvSpec:
    n, c, h, w = _numbers("INPUT", options.input, "N,C,H,W", "1,64,56,56")
    k, r, s = _numbers("--filters", options.filters, "K,R,S", "64,3,3")
    padding = options.padding if options.padding in ("same", "valid") else _some("--padding", options.padding)
    stride, dilation = _some("--stride", options.stride), _some("--dilation", options.dilation)
    return ConvSpec(n, c, h, w, k, r, s, stride, padding, dilation, options.groups)


def _numbers(name: str, text: str, axes: str, example: str) -> tuple[int, ...]:
    found = _integers(text)
    if len(found) != axes.count(",") + 1:
        raise ConvlabError(f"{name} is {text!r}, not {axes}.\n  Fix: give the sizes with commas, such as {example}.")
    return found


def _some(name: str, text: str) -> Any:
    """One number, or several."""
    found = _integers(text)
    if not found:
        words = ", or same, or valid" if name == "--padding" else ""
        raise ConvlabError(
            f"{name} is {text!r}.\n  Fix: give a number, or several with commas, such as 1 or 1,2{words}."
        )
    return found[0] if len(found) == 1 else found


def _integers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(","))) if re.fullmatch(r"\d{1,18}(,\d{1,18})*", text) else ()


def _sample(text: str) -> Any:
    fixed = {"auto": "auto", "all": False}
    if text in fixed:
        return fixed[text]
    if not re.fullmatch(r"[1-9]\d{0,17}", text):
        raise ConvlabError(f"--sample is {text!r}.\n  Fix: give a number of blocks, or all, or auto.")
    return int(text)


def _write(path: str, write: Callable[[str], None]) -> None:
    try:
        write(path)
    except OSError as error:
        raise _cannot(path, str(error.strerror)) from None


def _cannot(path: str, why: str) -> ConvlabError:
    fix = "name a file in a folder that is there and that you may write to"
    return ConvlabError(f"{path} cannot be written: {why}.\n  Fix: {fix}.")


def _as_json(found: Profile | Profiles, spec: ConvSpec) -> str:
    each = [found] if isinstance(found, Profile) else list(found)
    document = {"spec": asdict(spec), "gpu": found.gpu.name, "methods": [_record(one) for one in each]}
    return json.dumps(document, indent=1, ensure_ascii=False)


def _record(one: Profile | Refusal) -> dict[str, Any]:
    """One method as plain data; milliseconds, FLOP and bytes, shares from 0 to 1."""
    if isinstance(one, Refusal):
        return asdict(one)
    record: dict[str, Any] = {"method": one.method, "time": asdict(one.time), "gflops": one.gflops, "flop": one.flop}
    if one.work is None or one.prediction is None:
        return record
    return record | {
        "arithmetic": one.dtype,
        "peak_share": one.peak_share,
        "executed_flop": one.executed_flop,
        "bytes": one.traffic,
        "intensity": one.intensity,
        "sampled": one.work.sampled,
        "counters": dict(one.counters),
        "arrays": {name: _counted(counts) for name, counts in one.arrays.items()},
        "resources": {name: asdict(needs) for name, needs in one.resources.items()},
        "occupancy": {name: asdict(held) for name, held in one.occupancy.items()},
        "model": [
            {"kernel": launch.entry, "milliseconds": launch.milliseconds, "limits": dict(launch.limits)}
            for launch in one.prediction.launches
        ],
        "waits_for": one.waits_for,
    }


def _counted(counts: Counters) -> dict[str, int]:
    """What was counted at all: of an array, most counters say nothing."""
    return {name: value for name, value in counts.items() if value}
