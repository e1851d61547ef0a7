"""How long a method takes: measured where that can be, else recorded, else modelled, and always labelled so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.kernels.ops import OPS
from convlab.perf.candidate import Candidate, candidate, refusal
from convlab.perf.cpu_timing import measure_reference
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.model import predict
from convlab.perf.peers import Peer, peers
from convlab.perf.peers.measure import measure_peer
from convlab.perf.recorded import recorded
from convlab.perf.times import Time
from convlab.perf.timing import measure
from convlab.perf.work import Sample, work

__all__ = ["check_spec", "time"]

DEVICES = ("auto", "cuda", "cpu")
TYPES = ("float32", "float16", "bfloat16", "float64")


def time(
    spec: Any,
    method: str = "naive",
    device: str = "auto",
    gpu: str = "A100",
    dtype: str = "float32",
    sample: Sample = "auto",
) -> Time:
    """Say how long a method takes for a spec, and which kind of time that is.

    >>> from convlab.spec import GemmSpec
    >>> time(GemmSpec(64, 48, 32), "blas").kind
    'measured'

    Where a GPU is at hand, a kernel is measured on it. Where none is, the answer is what was recorded on the model
    ``gpu``, or else what is modelled for it. What runs on the CPU is measured on this one. Of another library on a GPU
    there is no model: where it cannot be measured, only a recorded time is an answer.

    Args:
        spec: the sizes: a ``ConvSpec``, a ``GemmSpec`` or that of another op.
        method: a name of the ladder or of ``convlab.perf.peers.peers()``, what people would use instead; or "auto".
        device: "auto"; "cuda" to insist on a measurement on the GPU at hand; "cpu" on one on this CPU.
        gpu: a name in ``convlab.perf.GPUS``, for a recorded or a modelled time.
        dtype: the type of the inputs, for "auto", for peers, and for references that take any; a kernel has its own.
        sample: how many blocks a modelled time is counted on, as for ``cl.profile``.

    Raises:
        ValueError: no such method, device, model or type, or one that does not do this; something else than a spec.
        LaunchError: "cuda" where there is no GPU, or for what runs on the CPU; "cpu" for what runs on a GPU; no time of
            any kind.
        ConvlabError: the method gives a wrong result.
    """
    check_spec(spec)
    _check_words(device, dtype)
    model = find_gpu(gpu)
    who = candidate(method, spec, device, model, dtype)
    _check_support(who, spec, dtype)
    _check_device(who, device)
    found = _time(who, spec, device, model, dtype, sample)
    return replace(found, note=f"{who.name}; {found.note}") if method == "auto" else found


def check_spec(spec: Any) -> None:
    """Sizes must be those of an op: arrays and tuples are a likely mistake."""
    kinds = [op.spec for op in OPS.values()]
    if not isinstance(spec, tuple(kinds)):
        raise ValueError(
            f"spec is of type {type(spec).__name__}, none of {', '.join(kind.__name__ for kind in kinds)}.\n"
            "  Fix: give the sizes as a spec, such as cl.ConvSpec(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)."
        )


def _check_words(device: str, dtype: str) -> None:
    if device not in DEVICES:
        raise ValueError(
            f"device={device!r} is none of {', '.join(map(repr, DEVICES))}.\n"
            "  Fix: leave it out, or insist on a GPU with 'cuda'; the emulator's own speed says nothing about one."
        )
    if dtype not in TYPES:
        raise ValueError(f"dtype={dtype!r} is none of {', '.join(map(repr, TYPES))}.\n  Fix: name one of these.")


def _check_support(who: Candidate, spec: Any, dtype: str) -> None:
    reason = refusal(who, spec, dtype)
    if reason is not None:
        able = ", ".join(each.name for each in (*methods(), *peers()) if refusal(each, spec, dtype) is None)
        raise ValueError(f"Method {who.name!r} does not do this: {reason}\n  In: {spec!r}\n  Fix: use one of {able}.")


def _check_device(who: Candidate, device: str) -> None:
    """A device must be one that the method runs on."""
    if device == "cpu" and not _on_cpu(who):
        raise LaunchError(
            f"{who.name!r} runs on a GPU, and this CPU cannot time it.\n"
            "  Fix: leave the device out, or time a method that runs on the CPU."
        )
    if device == "cuda" and _on_cpu(who):
        raise LaunchError(f"{who.name!r} runs on the CPU, not on a GPU.\n  Fix: leave the device out.")


def _on_cpu(who: Candidate) -> bool:
    return who.device == "cpu" if isinstance(who, Peer) else who.reference is not None


def _time(who: Candidate, spec: Any, device: str, gpu: Gpu, dtype: str, sample: Sample) -> Time:
    """Measure it if that can be, or else look it up, or else predict it."""
    if isinstance(who, Peer):
        why = who.available()
        if device == "cuda" or who.device == "cpu" or not why:
            return measure_peer(who, spec, dtype)[0]
        return recorded(spec, who.name, gpu.name, dtype) or _never(who, spec, gpu, why)
    if who.reference is not None:
        return measure_reference(spec, who, dtype)
    if device == "cuda" or (cuda.available() and who.since <= cuda.capability()):
        return measure(spec, who)
    _check_instructions(who, gpu)
    return recorded(spec, who.name, gpu.name) or _modelled(who, spec, gpu, sample)


def _modelled(record: Method, spec: Any, gpu: Gpu, sample: Sample) -> Time:
    assert record.plan is not None
    plan = record.plan(spec)
    if len(plan.launches) < len(plan.steps):
        _never(record, spec, gpu, cuda.why_not())
    return predict(work(spec, record.name, sample), gpu).time()


def _never(who: Candidate, spec: Any, gpu: Gpu, why: str) -> NoReturn:
    """What another library does has no counters that a model could start from."""
    raise LaunchError(
        f"There is no time of {who.name!r}: none is recorded on the {gpu.name}, the model cannot count what another "
        f"library does, and it cannot be measured here: {why}\n"
        f"  In: {spec!r}\n"
        "  Fix: run this where there is an NVIDIA GPU, or name one with a recorded time; convlab bench lists them."
    )


def _check_instructions(record: Method, gpu: Gpu) -> None:
    """A model of a GPU must have the method's instructions."""
    major, minor = gpu.compute_capability
    if record.since > 10 * major + minor:
        needs = f"instructions of compute capability {record.since / 10}, and the {gpu.name} has {major}.{minor}"
        raise ValueError(f"Method {record.name!r} needs {needs}.\n  Fix: name a newer GPU, such as gpu='A100'.")
