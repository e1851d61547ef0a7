"""Exercise 04, question 2: what a GPU allows for a layer, as a function of the layer and the GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from convlab.checker.exercises.misconceptions import mutant
from convlab.checker.exercises.taps import Array, random_values
from convlab.checker.record import Case, Exercise, Floats
from convlab.spec import ConvSpec
from convlab.spec.axis import Axis

__all__ = ["EXERCISE"]

# Peak in TFLOP/s and bandwidth in TB/s: an A100 in float32 and on its Tensor Cores, an RTX 4090, a T4.
A100, A100_TENSOR, RTX4090, T4 = (19.5, 1.555), (312.0, 1.555), (82.6, 1.008), (8.1, 0.32)


def _cases(rng: np.random.Generator) -> list[Case]:
    """Both sides of the ridge, both types, strides and paddings; the first is the plainest."""
    height, width = int(rng.choice([9, 11])), int(rng.choice([8, 10]))
    layers = [
        (ConvSpec(n=2, c=3, h=height, w=width, k=4, r=3, s=2), 4, A100),
        (ConvSpec(n=3, c=5, h=height, w=width, k=7, r=3, s=2, padding=2), 4, RTX4090),
        (ConvSpec(n=2, c=16, h=height, w=width, k=24, r=3, s=2, padding=1), 4, A100),
        (ConvSpec(n=2, c=16, h=height, w=width, k=20, r=4, s=3, stride=2, padding=1), 2, A100_TENSOR),
        (ConvSpec(n=3, c=20, h=height, w=width, k=32, r=3, s=2, stride=2, padding=1), 2, T4),
    ]
    return [_case(rng, spec, size, *machine) for spec, size, machine in layers]


def _case(rng: np.random.Generator, spec: ConvSpec, size: int, peak: float, bandwidth: float) -> Case:
    x, w = random_values(rng, *spec.input_shape), random_values(rng, *spec.weight_shape)
    steps = {"stride": spec.stride[0], "padding": spec.padding[0]}
    return Case({"x": x, "w": w, **steps, "size": size, "peak": peak, "bandwidth": bandwidth})


Side = Callable[[int, int, int, int], float]  # pixels, window, stride, padding → outputs along an axis


def _side(size: int, window: int, stride: int, padding: int) -> float:
    return Axis("H", size, padding, padding, window, stride, 1).outputs


@dataclass(frozen=True)
class _Layer:
    """What the answer is made of."""

    x: Array
    w: Array
    stride: int
    padding: int
    size: int
    peak: float
    bandwidth: float
    side: Side = _side

    @property
    def images(self) -> int:
        return len(self.x)

    @property
    def outputs(self) -> float:
        sides = zip(self.x.shape[2:], self.w.shape[2:], strict=True)
        return self.images * len(self.w) * prod(self.side(*each, self.stride, self.padding) for each in sides)

    @property
    def macs(self) -> float:
        return self.outputs * prod(self.w.shape[1:])

    @property
    def padded(self) -> int:
        """Numbers of the input, if its padding were stored."""
        n, c, h, w = map(int, self.x.shape)
        return n * c * (h + 2 * self.padding) * (w + 2 * self.padding)


Answer = Callable[..., float]


def _bent(
    flop: Callable[[_Layer], float] = lambda layer: 2 * layer.macs,
    bytes_: Callable[[_Layer], float] = lambda layer: layer.size * (layer.x.size + layer.w.size + layer.outputs),
    roof: Callable[[float, float, float], float] = lambda intensity, peak, bandwidth: min(peak, intensity * bandwidth),
    change: Callable[[_Layer], _Layer] = lambda layer: layer,
) -> Answer:
    """Make an answer with one thing bent; as it stands, it is right."""

    def answer(*arguments: Any) -> float:
        layer = change(_Layer(*arguments))
        return float(roof(flop(layer) / bytes_(layer), layer.peak, layer.bandwidth))

    return answer


def _oracle(*arguments: object) -> Floats:
    return np.asarray(_bent()(*arguments))


def _tolerance(*arguments: object) -> Floats:
    return 1e-6 * _oracle(*arguments)


def _with(**changes: Any) -> Callable[[_Layer], _Layer]:
    return lambda layer: _Layer(**{**vars(layer), **changes})


def _input(size: int, window: int, stride: int, padding: int) -> float:
    return size


_AS_INPUT = _with(side=_input)


_MUTANTS = (
    mutant("multiply-add counted as one FLOP", _bent(flop=lambda layer: layer.macs)),
    mutant("weights not counted as bytes", _bent(bytes_=lambda layer: layer.size * (layer.x.size + layer.outputs))),
    mutant("output not counted as bytes", _bent(bytes_=lambda layer: layer.size * (layer.x.size + layer.w.size))),
    mutant("input not counted as bytes", _bent(bytes_=lambda layer: layer.size * (layer.w.size + layer.outputs))),
    mutant(
        "padding counted as bytes",
        _bent(bytes_=lambda layer: layer.size * (layer.padded + layer.w.size + layer.outputs)),
    ),
    mutant("numbers counted, not bytes", _bent(change=_with(size=1))),
    mutant(
        "wrong number of bytes for the type",
        _bent(change=_with(size=4)),
        _bent(change=_with(size=2)),
        _bent(bytes_=lambda layer: 4 * (layer.x.size + layer.w.size) + layer.size * layer.outputs),
    ),
    mutant(
        "every load counted as a byte of DRAM",
        _bent(bytes_=lambda layer: layer.size * 2 * layer.macs),
        _bent(bytes_=lambda layer: layer.size * (2 * layer.macs + layer.outputs)),
    ),
    mutant(
        "bytes divided by FLOP",
        _bent(roof=lambda intensity, peak, bandwidth: min(peak, bandwidth / intensity)),
        _bent(roof=lambda intensity, peak, bandwidth: min(peak, 1 / intensity)),
    ),
    mutant(
        "ridge taken the wrong way round",
        _bent(roof=lambda intensity, peak, bandwidth: max(peak, intensity * bandwidth)),
    ),
    mutant("peak forgotten", _bent(roof=lambda intensity, peak, bandwidth: intensity * bandwidth)),
    mutant("memory forgotten", _bent(roof=lambda intensity, peak, bandwidth: peak)),
    mutant("intensity given", _bent(roof=lambda intensity, peak, bandwidth: intensity)),
    mutant(
        "share of the peak given",
        _bent(roof=lambda intensity, peak, bandwidth: min(1, intensity * bandwidth / peak)),
    ),
    mutant("batch left out of the work", _bent(flop=lambda layer: 2 * layer.macs / layer.images)),
    mutant(
        "batch left out of the bytes",
        _bent(bytes_=lambda layer: layer.size * ((layer.x.size + layer.outputs) / layer.images + layer.w.size)),
    ),
    mutant(
        "work and bytes of one image",
        _bent(
            bytes_=lambda layer: layer.size * (layer.x.size + layer.images * layer.w.size + layer.outputs),
        ),
    ),
    mutant("filters left out of the work", _bent(flop=lambda layer: 2 * layer.macs / len(layer.w))),
    mutant(
        "output as large as the input",
        _bent(change=_AS_INPUT),
        _bent(flop=lambda layer: 2 * _AS_INPUT(layer).macs),
        _bent(bytes_=lambda layer: layer.size * (layer.x.size + layer.w.size + _AS_INPUT(layer).outputs)),
    ),
    mutant(
        "output size divided by the stride alone",
        _bent(change=_with(side=lambda size, window, stride, padding: size // stride)),
        _bent(change=_with(side=lambda size, window, stride, padding: size / stride)),
    ),
    mutant(
        "output size not rounded",
        _bent(change=_with(side=lambda size, window, stride, padding: (size + 2 * padding - window) / stride + 1)),
    ),
    mutant(
        "last output missing",
        _bent(change=_with(side=lambda size, window, stride, padding: (size + 2 * padding - window) // stride)),
    ),
    mutant(
        "padding counted on one side",
        _bent(change=_with(side=lambda size, window, stride, padding: (size + padding - window) // stride + 1)),
    ),
    mutant("filter taken for one channel", _bent(flop=lambda layer: 2 * layer.macs / layer.x.shape[1])),
    mutant("stride ignored", _bent(change=_with(stride=1))),
    mutant("padding left out altogether", _bent(change=_with(padding=0))),
)

EXERCISE = Exercise(
    id="04-attainable",
    notebook="04_bounds",
    title="The roof as a function",
    points=4,
    kind="function",
    function="attainable",
    stub="raise NotImplementedError  # FLOP, bytes, and the lower of two limits",
    cases=_cases,
    oracle=_oracle,
    tolerance=_tolerance,
    mutants=_MUTANTS,
    hints=(
        "You need P and Q first: they decide the FLOP and the bytes of the output.",
        "With peak in TFLOP/s and bandwidth in TB/s, intensity times bandwidth is in TFLOP/s: convert nothing.",
    ),
)
