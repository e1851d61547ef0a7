"""Profile a network: layer by layer the work, the memory, the best method and its time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tqdm.auto import tqdm

from convlab.executors import cuda
from convlab.kernels.choose import Choice, choice
from convlab.kernels.ladder import methods
from convlab.nets.given import Given, network_of
from convlab.nets.layer import Layer, LayerSpec
from convlab.nets.network import Network
from convlab.nets.profiles import NetworkProfile
from convlab.nets.row import LayerProfile, move
from convlab.perf.candidate import candidate
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.profile import profile as profile_methods
from convlab.perf.profile_record import Profile
from convlab.perf.profile_table import Profiles, Refusal
from convlab.perf.trial import op_of
from convlab.perf.work import Sample

__all__ = ["profile"]

SAMPLE = 4  # blocks of a launch that are counted, so that a network takes seconds


class _Asked(NamedTuple):
    """What is the same for all layers."""

    methods: tuple[str, ...]
    device: str
    gpu: str
    sample: Sample
    dtype: str


class _Found(NamedTuple):
    """The best that was found for a spec, and why."""

    profile: Profile
    why: str


_known: dict[tuple[LayerSpec, _Asked], _Found] = {}


def profile(
    network: Given,
    n: int = 1,
    method: str | Sequence[str] = "auto",
    device: str = "auto",
    gpu: str = "A100",
    sample: Sample = SAMPLE,
    dtype: str = "float32",
) -> NetworkProfile:
    """Say of each layer of a network what it costs, what bounds it, which method suits it, and how long that takes.

    >>> from convlab.spec import ConvSpec
    >>> found = profile([ConvSpec(1, 8, 20, 24, 8, 3, 3, padding=1, groups=8), ConvSpec(1, 8, 20, 24, 16, 1, 1)])
    >>> [(row.layer.name, row.method, row.bound, row.time.kind) for row in found]
    [('layer1', 'depthwise', 'memory', 'modelled'), ('layer2', 'grouped', 'memory', 'modelled')]

    Distinct sizes are profiled once, and kept until Python ends: after Ctrl-C, a second call goes on where the first
    was stopped. Batch norms and activations are taken as folded into the layer before them; poolings and sums move
    their bytes through DRAM once, by the model.

    Args:
        network: a name of `NETWORKS`, a file of ONNX, a `Network`, or a list of ``cl.ConvSpec``.
        n: the number of images, for a name, and for a file that leaves it open. The arrays of a layer must fit into
            the memory of this machine.
        method: "auto", by the rules of `convlab.kernels.choose`; or names of the ladder and of peers, of which each
            layer takes the fastest, and by the rules where none of them does it. Where the course has no kernel in
            ``dtype``, the rules pick one in float32, and say so.
        device: as for ``cl.time``.
        gpu: a name of `convlab.perf.gpus.GPUS`.
        sample: as for ``cl.profile``.
        dtype: as for ``cl.time``, and the type of all activations.

    Raises:
        ValueError: an unknown network, method, GPU or type.
        ConvlabError: a file that cannot be read, or without the package onnx.
        LaunchError: a device that is not there, or that a method does not run on.
    """
    found, record = network_of(network, n), find_gpu(gpu)
    names = (method,) if isinstance(method, str) else tuple(method)
    for name in names:
        if name != "auto":
            candidate(name, None, device, record, dtype)  # an unknown name is told before the first layer
    asked = _Asked(names, device, record.name, sample, dtype)
    for spec in _with_a_bar(found, [spec for spec in found.specs if (spec, asked) not in _known]):
        _known[spec, asked] = _best(spec, asked)
    return NetworkProfile(found, record, dtype, _rows(found, record, asked))


def _with_a_bar(network: Network, specs: Sequence[LayerSpec]) -> Iterator[LayerSpec]:
    """One after the other, under a bar that names the first layer that has each."""
    with tqdm(total=len(specs), leave=False, unit="size", desc=network.name, disable=not specs) as bar:
        for spec in specs:
            bar.set_postfix_str(network.specs[spec][0])
            yield spec
            bar.update()


def _best(spec: LayerSpec, asked: _Asked) -> _Found:
    """The fastest of the methods that were asked for; where there is none, the one of the rules."""
    able = [name for name in asked.methods if name != "auto" and _is_of(name, spec)]
    if not able:
        return _by_the_rules(spec, asked, "")
    rows: Profiles = profile_methods(spec, able, asked.device, asked.gpu, asked.sample, asked.dtype)
    timed = sorted((row for row in rows if isinstance(row, Profile)), key=lambda row: row.time.milliseconds)
    refused = " ".join(f"{row.method}: {row.reason}" for row in rows if isinstance(row, Refusal))
    return _Found(timed[0], _lead(timed)) if timed else _by_the_rules(spec, asked, refused)


def _is_of(name: str, spec: LayerSpec) -> bool:
    """Whether a name may compute the spec's op: peers are asked for that by the profile."""
    ops = {record.name: record.op for record in methods()}
    return ops.get(name, op_of(spec)) == op_of(spec)


def _by_the_rules(spec: LayerSpec, asked: _Asked, refused: str) -> _Found:
    picked = _picked(spec, asked)
    found = profile_methods(spec, picked.method.name, asked.device, asked.gpu, asked.sample, asked.dtype)
    return _Found(found, f"{refused} By the rules: {picked.why}." if refused else _sentence(picked.why))


def _picked(spec: LayerSpec, asked: _Asked) -> Choice:
    """By the rules; a kernel in float32 where there is none in the type: a time on the CPU is no part of a GPU's."""
    major, minor = find_gpu(asked.gpu).compute_capability
    capability = cuda.capability() if cuda.available() else 10 * major + minor
    device = "cpu" if asked.device == "cpu" else "cuda"
    try:
        return choice(op_of(spec), spec, asked.dtype, device, capability)
    except ValueError:
        found = choice(op_of(spec), spec, "float32", device, capability)
    return found._replace(why=f"no kernel computes it in {asked.dtype}, so this is float32: {found.why}")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _lead(timed: Sequence[Profile]) -> str:
    """By how much the first is faster than the second, and what that one waits for."""
    first, *others = timed
    if not others:
        return "It was the only one asked for that does this."
    factor = others[0].time.milliseconds / first.time.milliseconds
    waits = f", which waits for {others[0].waits_for}" if others[0].waits_for else ""
    return f"{first.time.kind.title()} {factor:.2f} times as fast as {others[0].method}{waits}."


def _rows(network: Network, gpu: Gpu, asked: _Asked) -> list[LayerProfile]:
    live, columns = network.live(asked.dtype), network.live(asked.dtype, im2col=True)
    return [
        LayerProfile(
            layer,
            activation=layer.output_bytes(asked.dtype),
            live=live[layer.name],
            live_im2col=columns[layer.name],
            **_what_it_costs(layer, network.traffic(layer, asked.dtype), gpu, asked),
        )
        for layer in network
    ]


def _what_it_costs(layer: Layer, traffic: int, gpu: Gpu, asked: _Asked) -> dict[str, Any]:
    intensity = 2 * layer.macs / traffic
    facts: dict[str, Any] = {"traffic": traffic, "intensity": intensity, "bound": _bound(intensity, gpu, asked.dtype)}
    if layer.spec is None:
        return facts | {"time": None if layer.kind == "between" else move(traffic, gpu)}
    found = _known[layer.spec, asked]
    return facts | {
        "time": found.profile.time,
        "method": found.profile.method,
        "why": found.why,
        "profile": found.profile,
    }


def _bound(intensity: float, gpu: Gpu, dtype: str) -> str:
    """What the roofline says of compulsory bytes; nothing for a type that the GPU has no peak for."""
    if dtype not in gpu.dtypes:
        return ""
    return "compute" if intensity > gpu.ridge(dtype) else "memory"
