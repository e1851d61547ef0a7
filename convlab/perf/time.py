"""How long a method takes: measured where that can be, else recorded, else modelled, and always labelled so."""

from __future__ import annotations

from typing import Any

from convlab.errors import LaunchError
from convlab.executors import cuda
from convlab.kernels.ladder import method as find_method
from convlab.kernels.ladder import methods
from convlab.kernels.method import Method
from convlab.kernels.ops import OPS
from convlab.perf.cpu_timing import measure_reference
from convlab.perf.datasheet import Gpu
from convlab.perf.gpus import gpu as find_gpu
from convlab.perf.model import predict
from convlab.perf.recorded import recorded
from convlab.perf.times import Time
from convlab.perf.timing import measure
from convlab.perf.work import work

__all__ = ["check_spec", "time"]

DEVICES = ("auto", "cuda", "cpu")


def time(spec: Any, method: str = "naive", device: str = "auto", gpu: str = "A100") -> Time:
    """Say how long a method takes for a spec, and which kind of time that is.

    >>> from convlab.spec import GemmSpec
    >>> time(GemmSpec(64, 48, 32), "blas").kind
    'measured'

    Where a GPU is at hand, a kernel is measured on it. Where none is, the answer is what was recorded on the model
    ``gpu``, or else what is modelled for it. A reference method is measured on this CPU.

    Args:
        spec: the sizes: a ``ConvSpec``, a ``GemmSpec`` or that of another op.
        method: a name of the ladder, which supports the spec.
        device: "auto"; "cuda" to insist on a measurement on the GPU at hand; "cpu" on one of a reference method.
        gpu: a name in ``convlab.perf.GPUS``, for a recorded or a modelled time.

    Raises:
        ValueError: no such method, device or model, or one that does not do this; something else than a spec.
        LaunchError: "cuda" where there is no GPU, or for a reference method; "cpu" for a kernel.
        ConvlabError: the method gives a wrong result.
    """
    check_spec(spec)
    record = _named(method, spec)
    _check_device(record, spec, device)
    if record.reference is not None:
        return measure_reference(spec, record)
    if device == "cuda" or (cuda.available() and record.since <= cuda.capability()):
        return measure(spec, record)
    model = find_gpu(gpu)
    _check_instructions(record, model)
    return recorded(spec, method, gpu) or predict(work(spec, method), model).time()


def check_spec(spec: Any) -> None:
    """Sizes must be those of an op: arrays and tuples are a likely mistake."""
    kinds = [op.spec for op in OPS.values()]
    if not isinstance(spec, tuple(kinds)):
        raise ValueError(
            f"spec is of type {type(spec).__name__}, none of {', '.join(kind.__name__ for kind in kinds)}.\n"
            "  Fix: give the sizes as a spec, such as cl.ConvSpec(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1)."
        )


def _named(name: str, spec: Any) -> Method:
    record = find_method(name)
    reason = record.supports(spec)
    if reason is not None:
        able = ", ".join(m.name for m in methods() if m.supports(spec) is None)
        raise ValueError(f"Method {name!r} does not do this: {reason}\n  In: {spec!r}\n  Fix: use one of {able}.")
    return record


def _check_device(record: Method, spec: Any, device: str) -> None:
    """A device must be one that the method runs on, and be there."""
    if device not in DEVICES:
        raise ValueError(
            f"device={device!r} is none of {', '.join(map(repr, DEVICES))}.\n"
            "  Fix: leave it out, or insist on a GPU with 'cuda'; the emulator's own speed says nothing about one."
        )
    if device == "cpu" and record.reference is None:
        raise LaunchError(
            f"{record.name!r} is a kernel, which this CPU cannot time.\n"
            "  Fix: leave the device out, or time a reference."
        )
    if device == "cuda":
        _check_gpu(record, spec)


def _check_gpu(record: Method, spec: Any) -> None:
    """There must be a GPU, and the method's instructions in it."""
    if record.reference is not None:
        raise LaunchError(
            f"{record.name!r} is a reference method: it runs on the CPU, not on a GPU.\n  Fix: leave the device out."
        )
    if not cuda.available():
        raise LaunchError(
            f"Nothing can be measured here, since no GPU can be used: {cuda.why_not()}\n"
            f"  In: {record.name!r} on {spec!r}\n"
            "  Fix: leave the device out for a recorded or modelled time, or run this where there is an NVIDIA GPU."
        )
    if record.since > cuda.capability():
        raise LaunchError(
            f"{record.name!r} needs a GPU of compute capability {record.since / 10} or newer, and this one has "
            f"{cuda.capability() / 10}.\n  Fix: leave the device out for a recorded or modelled time."
        )


def _check_instructions(record: Method, gpu: Gpu) -> None:
    """A model of a GPU must have the method's instructions."""
    major, minor = gpu.compute_capability
    if record.since > 10 * major + minor:
        needs = f"instructions of compute capability {record.since / 10}, and the {gpu.name} has {major}.{minor}"
        raise ValueError(f"Method {record.name!r} needs {needs}.\n  Fix: name a newer GPU, such as gpu='A100'.")
