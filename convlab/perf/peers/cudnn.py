"""cuDNN through PyTorch: it tries its algorithms on the first call, and the kernel that it takes is named."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from convlab.executors import cuda, cuda_queue
from convlab.perf.clocks import clock_reader
from convlab.perf.peers.adapter import Array, Peer, Prepared, missing
from convlab.perf.peers.torch_cpu import convolution
from convlab.perf.timing import sets_of
from convlab.perf.trial import random_inputs

__all__ = ["CUDNN", "TorchWatch", "kernel_names"]

_POLL_S = 0.0005
_UNREAD = "its kernel could not be read"
_OWN = ", and may be PyTorch's own, not cuDNN's, as the convolution is depthwise"


def _available() -> str:
    why = missing("torch") or cuda.why_not()
    if why:
        return why
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        return "This PyTorch finds no NVIDIA GPU: it is built for the CPU, or for another driver."
    return "" if torch.backends.cudnn.is_available() else "This PyTorch has no cuDNN."


def _prepare(spec: Any, dtype: str, channels_last: bool, tf32: bool) -> Prepared:
    torch: Any = import_module("torch")
    inputs, device = random_inputs("conv2d", spec, lambda name: dtype), cuda_queue.device()
    form = torch.channels_last if channels_last else torch.contiguous_format
    x, weights = (
        torch.from_numpy(array.astype(np.float32)).to("cuda", getattr(torch, dtype)).contiguous(memory_format=form)
        for array in inputs.values()
        if array is not None
    )
    y = x.element_size() * spec.n * spec.k * spec.p * spec.q
    sets = sets_of(sum(each.element_size() * each.numel() for each in (x, weights)) + y, device.l2_bytes)
    pairs = [(x.clone(), weights.clone()) for _ in range(sets)]
    made: list[Any] = [None] * sets  # kept, so that every set has its own memory for the output, too

    def work(number: int) -> None:
        with torch.inference_mode(), _algorithms(torch, tf32):
            made[number] = convolution(torch, spec, *pairs[number])

    def output() -> Array:
        array: Array = made[0].float().contiguous().cpu().numpy()
        return array.astype(inputs["x"].dtype) if inputs["x"] is not None else array

    names = partial(kernel_names, torch, partial(work, 0))
    unread = _UNREAD + _OWN * (spec.groups == spec.c > 1)
    return Prepared(work, output, inputs, device.name, sets, TorchWatch(torch), clock_reader(device), names, unread)


def _free() -> None:
    torch: Any = import_module("torch")
    torch.cuda.empty_cache()


@contextmanager
def _algorithms(torch: Any, tf32: bool) -> Iterator[None]:
    """Let cuDNN choose by trying, with or without TF32; PyTorch's settings are restored after it."""
    settings, wanted = torch.backends.cudnn, {"benchmark": True, "allow_tf32": tf32}
    before = {name: getattr(settings, name) for name in wanted}
    try:
        for name, value in wanted.items():
            setattr(settings, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)


class TorchWatch:
    """PyTorch's moments on its current stream, and its CUDA graphs."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def mark(self) -> Any:
        """A moment: when all that was queued until now is done."""
        event = self._torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def wait(self, event: Any) -> None:
        """Wait in Python, where Ctrl-C is heard."""
        while not event.query():
            time.sleep(_POLL_S)

    def between(self, start: Any, end: Any) -> float:
        """Milliseconds between two moments that have come."""
        return float(start.elapsed_time(end))

    def capture(self, work: Callable[[], None]) -> Callable[[], None]:
        """What ``work`` queues, as one CUDA graph that a call queues."""
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            work()
        replay: Callable[[], None] = graph.replay
        return replay


def kernel_names(torch: Any, work: Callable[[], None]) -> str:
    """The kernels that work launches, the longest first, as PyTorch's profiler names them; empty where it cannot."""
    try:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            work()
            torch.cuda.synchronize()
        events = [event for event in profile.events() if str(event.device_type).endswith("CUDA")]
    except Exception:  # profilers need permissions that containers may lack
        return ""
    longest = sorted(events, key=lambda event: -float(event.time_range.elapsed_us()))
    return " + ".join(dict.fromkeys(event.name for event in longest if not event.name.startswith("Mem")))


_TYPES = ("float32", "float16", "bfloat16")

CUDNN = tuple(
    Peer(
        name,
        f"cuDNN through PyTorch, {what}",
        "cuda",
        ("conv2d",),
        dtypes,
        _available,
        partial(_prepare, channels_last=channels_last, tf32=tf32),
        uneven=False,
        free=_free,
        products="tf32" if tf32 else "",
    )
    for name, what, channels_last, tf32, dtypes in (
        ("cudnn", "NCHW, no TF32", False, False, _TYPES),
        ("cudnn_nhwc", "NHWC, no TF32", True, False, _TYPES),
        ("cudnn_tf32", "NCHW, TF32", False, True, ("float32",)),
        ("cudnn_nhwc_tf32", "NHWC, TF32", True, True, ("float32",)),
    )
)
