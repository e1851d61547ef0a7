"""Measure a method on the GPU at hand: its plan on data that stays there, checked before it is timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.errors import LaunchError
from convlab.executors import cuda, cuda_queue
from convlab.executors.compile import compile
from convlab.executors.module import Kernel, Module
from convlab.executors.run import Run
from convlab.kernels.method import Launch, Matmul, Method, Plan
from convlab.kernels.ops import OPS
from convlab.perf.clocks import clock_reader
from convlab.perf.stopwatch import REPEATS, sample
from convlab.perf.times import Time
from convlab.perf.trial import check, random_inputs

__all__ = ["MOST_SETS", "measure", "sets_of"]

Array = npt.NDArray[Any]
Made = Mapping[str, tuple[tuple[int, ...], str]]  # what is made on the GPU: name → (shape, dtype)

MOST_SETS = 1024  # sets of buffers: below some 100 KB of data, they do not fill twice the L2


def measure(spec: Any, method: Method, expected: Array | None = None, repeats: int = REPEATS) -> Time:
    """Time the plan of a method, a kernel's, on the GPU at hand: CUDA events, data cold in L2.

    The data, random numbers from −1 to 1 in the method's own layout and types, lies in as many sets of buffers as fill
    twice the L2, and they take turns. Kernels are compiled, constants written and scratch arrays made beforehand;
    changes of layout are not part of the time.

    Parameters: ``spec`` is one that the method supports; ``expected`` is the output that the method must have, in its
    layout; without it, the first and the last image are held against the oracle.

    Raises ``LaunchError`` where there is no GPU, or one that lacks the instructions; what a launch raises; and
    ``ConvlabError`` where the output is wrong.
    """
    _check_gpu(method, spec)
    assert method.plan is not None
    op, plan = OPS[method.op], method.plan(spec)
    inputs = random_inputs(method.op, spec, lambda name: op.dtype(name, method), method.layout)
    made = {**plan.scratch, "y": (op.shapes_in(spec, method.layout)["y"], method.output_dtype)}
    steps, device = _compiled(plan, inputs), cuda_queue.device()
    size = _bytes(inputs, made)
    sets = sets_of(size, device.l2_bytes)
    with steps[0].in_words():
        tensors = [_on_gpu(inputs, made) for _ in range(sets)]
        queues = [[step.ready(each) for step in steps] for each in tensors]
    for step, queue in zip(steps, queues[0], strict=True):
        with step.in_words():
            queue()
            cuda_queue.wait(cuda_queue.mark())
    y = cuda_queue.download(tensors[0]["y"])
    check(f"Method {method.name!r}", method.op, spec, inputs, y, method.layout, method.products, expected)

    def work(number: int) -> None:
        for queue in queues[number]:
            queue()

    with steps[0].in_words():
        samples = sample(work, sets, cuda_queue, repeats, clock_reader(device), method.name)
    queues.clear()
    tensors.clear()
    cuda_queue.free()
    warm = f"; {sets} sets are the most, and do not fill L2 twice" * (sets * size < 2 * device.l2_bytes)
    return samples.time(device.name, warm)


def _check_gpu(method: Method, spec: Any) -> None:
    """There must be a GPU, and the method's instructions in it."""
    if not cuda.available():
        raise LaunchError(
            f"Nothing can be measured here, since no GPU can be used: {cuda.why_not()}\n"
            f"  In: {method.name!r} on {spec!r}\n"
            "  Fix: leave the device out for a recorded or modelled time, or run this where there is an NVIDIA GPU."
        )
    if method.since > cuda.capability():
        raise LaunchError(
            f"{method.name!r} needs a GPU of compute capability {method.since / 10} or newer, and this one has "
            f"{cuda.capability() / 10}.\n  Fix: leave the device out for a recorded or modelled time."
        )


def sets_of(size: int, l2_bytes: int) -> int:
    """How many sets of buffers of so many bytes fill twice the L2.

    >>> sets_of(30_000_000, l2_bytes=50_000_000), sets_of(1_000_000_000, l2_bytes=50_000_000)
    (4, 1)
    """
    return min(ceil(2 * l2_bytes / size), MOST_SETS)


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a plan whose kernel is compiled; cuBLAS needs none."""

    step: Launch | Matmul
    kernel: Kernel | None

    def ready(self, tensors: Mapping[str, Any]) -> Callable[[], None]:
        """A call queues it, on these tensors."""
        step = self.step
        if isinstance(step, Matmul):
            return cuda_queue.ready_matmul(*((tensors[name], shape) for name, shape in (step.a, step.b, step.out)))
        assert self.kernel is not None
        arguments = [tensors[each] if isinstance(each, str) else each for each in step.arguments]
        return cuda_queue.ready(self.kernel, step.grid, step.block, arguments, step.shared)

    def in_words(self) -> AbstractContextManager[None]:
        """What goes wrong meanwhile gets the words of the kernel's errors."""
        if isinstance(self.step, Matmul) or self.kernel is None:
            return cuda.words("multiply matrices with cuBLAS")
        run = Run(self.kernel.name, "cuda", self.step.grid, self.step.block)
        return cuda.in_words(self.kernel, run)


def _compiled(plan: Plan, inputs: Mapping[str, Array | None]) -> list[_Step]:
    """The steps with their kernels; one module for all that share source, options and constants."""
    modules: dict[Any, Module] = {}
    return [_Step(step, None if isinstance(step, Matmul) else _kernel(step, inputs, modules)) for step in plan.steps]


def _kernel(step: Launch, inputs: Mapping[str, Array | None], modules: dict[Any, Module]) -> Kernel:
    key = step.source, step.options, tuple(sorted(step.constants.items()))
    if key not in modules:
        modules[key] = compile(step.text(), step.source, options=step.options)
        for variable, (tensor, start, stop) in step.constants.items():
            values = inputs[tensor]
            assert values is not None
            modules[key].write(variable, values.reshape(-1)[start:stop])
    return modules[key].kernels[step.entry]


def _bytes(inputs: Mapping[str, Array | None], made: Made) -> int:
    given = sum(array.nbytes for array in inputs.values() if array is not None)
    return given + sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in made.values())


def _on_gpu(inputs: Mapping[str, Array | None], made: Made) -> dict[str, Any]:
    """One set of buffers: the inputs, the output and the scratch arrays."""
    given = {name: None if array is None else cuda_queue.upload(array) for name, array in inputs.items()}
    return {**given, **{name: cuda_queue.allocate(shape, dtype) for name, (shape, dtype) in made.items()}}
