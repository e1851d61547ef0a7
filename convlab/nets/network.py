"""A network: its layers in order, what they add up to, and the memory that they need at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.nets.layer import Layer, LayerSpec
from convlab.perf.model import LEFT
from convlab.perf.profile_record import short

__all__ = ["INPUT", "Network"]

INPUT = "input"  # the name that layers call the network's own input by


class Network(Sequence[Layer]):
    """Layers in the order in which they run; a notebook shows them as a table.

    >>> from convlab.nets.mobilenet import mobilenet_v1
    >>> network = mobilenet_v1()
    >>> network
    mobilenet_v1: 28 layers with weights, 4.23 M parameters, 569 M MACs, for an input of 1×3×224×224
    >>> print(network["conv3.depthwise"])
    conv3.depthwise: 1×64×112×112 → 64 filters 3×3, stride 2, padding 1, groups 64

    Parameters: ``input_shape`` is (N, C, H, W). Raises ``ValueError`` where two layers share a name, or one reads what
    no earlier one makes.
    """

    def __init__(self, name: str, input_shape: tuple[int, ...], layers: Sequence[Layer]) -> None:
        self.name, self.input_shape = name, input_shape
        self._layers = tuple(layers)
        known = {INPUT}
        for layer in self._layers:
            if layer.name in known:
                raise ValueError(f"Two layers of {name} are called {layer.name!r}.\n  Fix: give each its own name.")
            for read in layer.inputs:
                if read not in known:
                    raise ValueError(
                        f"{layer.name!r} of {name} reads {read!r}, which no earlier layer makes.\n"
                        "  Fix: put the layers in the order in which they run."
                    )
            known.add(layer.name)

    def __getitem__(self, index: Any) -> Any:
        """A layer by its number or its name; some by a slice."""
        if isinstance(index, str):
            for layer in self:
                if layer.name == index:
                    return layer
            raise KeyError(f"{self.name} has no layer {index!r}. It has {', '.join(layer.name for layer in self)}.")
        return self._layers[index]

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    @property
    def weighted(self) -> tuple[Layer, ...]:
        """The layers that have a spec: convolutions, transposed ones, and fully connected ones."""
        return tuple(layer for layer in self if layer.spec)

    @property
    def specs(self) -> dict[LayerSpec, list[str]]:
        """Each distinct spec with the names of its layers, in the order of their first."""
        found: dict[LayerSpec, list[str]] = {}
        for layer in self:
            if layer.spec:
                found.setdefault(layer.spec, []).append(layer.name)
        return found

    @property
    def parameters(self) -> int:
        """Of all layers: weights, biases, scales and shifts."""
        return sum(layer.parameters for layer in self)

    @property
    def macs(self) -> int:
        """Of all layers, for the whole batch."""
        return sum(layer.macs for layer in self)

    @property
    def parts(self) -> dict[str, tuple[int, int]]:
        """Parameters and MACs by part: so that a count by another definition can be told from a mistake."""
        connected = [layer for layer in self if layer.kind == "linear"]
        others = [layer for layer in self if layer.kind != "linear"]
        return {
            "convolutions": (sum(layer.weights for layer in others), sum(layer.macs for layer in others)),
            "biases": (sum(layer.biases for layer in others), 0),
            "batch norm": (sum(layer.norm for layer in self), 0),
            "fully connected": (
                sum(layer.weights + layer.biases for layer in connected),
                sum(layer.macs for layer in connected),
            ),
        }

    @cached_property
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {INPUT: self.input_shape, **{layer.name: layer.output_shape for layer in self}}

    def bytes_of(self, name: str, dtype: npt.DTypeLike) -> int:
        """Bytes of a layer's output, or of the input, in a type."""
        return prod(self._shapes[name]) * np.dtype(dtype).itemsize

    def traffic(self, layer: Layer, dtype: npt.DTypeLike) -> int:
        """Compulsory bytes of a layer: its inputs and weights read once, its output written once."""
        read = sum(self.bytes_of(name, dtype) for name in dict.fromkeys(layer.inputs))
        return read + layer.weights * np.dtype(dtype).itemsize + layer.output_bytes(dtype)

    def activations(self, dtype: npt.DTypeLike) -> int:
        """Bytes of the input and of every layer's output: what training keeps for the way back."""
        return sum(self.bytes_of(name, dtype) for name in self._shapes)

    def live(self, dtype: npt.DTypeLike, im2col: bool = False) -> dict[str, int]:
        """Bytes of activations that must be there while each layer runs, when nothing is kept for longer than needed.

        These are its output, and all earlier outputs that it or a later layer reads; with ``im2col`` its columns too.
        """
        last = {name: layer.name for layer in self for name in layer.inputs}
        held: dict[str, int] = {INPUT: self.bytes_of(INPUT, dtype)}
        found = {}
        for layer in self:
            held[layer.name] = self.bytes_of(layer.name, dtype)
            found[layer.name] = sum(held.values()) + (layer.column_bytes(dtype) if im2col else 0)
            held = {name: size for name, size in held.items() if last.get(name) not in (layer.name, None)}
        return found

    def peak(self, dtype: npt.DTypeLike, im2col: bool = False) -> tuple[str, int]:
        """The layer that needs most, and its bytes; the parameters are not in it."""
        live = self.live(dtype, im2col)
        name = max(live, key=lambda each: live[each])
        return name, live[name]

    def __repr__(self) -> str:
        return (
            f"{self.name}: {len(self.weighted)} layers with weights, {short(self.parameters)} parameters, "
            f"{short(self.macs)} MACs, for an input of {'×'.join(map(str, self.input_shape))}"
        )

    def _repr_html_(self) -> str:
        heads = "".join(f"<th {LEFT}>{each}</th>" for each in ("layer", "place", "sizes", "parameters", "MACs"))
        rows = "".join(
            f"<tr><td {LEFT}>{escape(layer.name)}</td><td {LEFT}>{escape(layer.place)}</td>"
            f"<td {LEFT}>{escape(str(layer).partition(': ')[2])}</td>"
            f"<td>{layer.parameters:,}</td><td>{layer.macs:,}</td></tr>"
            for layer in self
        )
        return f"<p><b>{escape(repr(self))}</b></p><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
