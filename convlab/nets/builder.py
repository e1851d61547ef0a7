"""Puts a network together, one call a layer: each call works out the sizes from what it reads."""

from __future__ import annotations

from typing import Literal, NamedTuple

from convlab.nets.layer import Layer
from convlab.nets.network import INPUT, Network
from convlab.spec import ConvSpec, ConvTransposeSpec, GemmSpec, PaddingLike, PairLike

__all__ = ["Builder", "Tensor"]


class Tensor(NamedTuple):
    """What a layer reads: the name of who made it, and its shape."""

    name: str
    shape: tuple[int, ...]


class Builder:
    """Collects layers; ``place`` is written into each that follows.

    >>> builder = Builder("two", (1, 3, 32, 24))
    >>> x = builder.conv("first", builder.input, k=8, filters=3, stride=2, padding=1)
    >>> builder.linear("last", builder.average("mean", x), k=10)
    Tensor(name='last', shape=(1, 10))
    >>> builder.network()
    two: 2 layers with weights, 322 parameters, 41.6 k MACs, for an input of 1×3×32×24

    Parameters: ``input_shape`` is (N, C, H, W). Each method returns its output, and raises ``ValueError`` where a spec
    does for sizes that do not fit.
    """

    def __init__(self, name: str, input_shape: tuple[int, int, int, int]) -> None:
        self.name = name
        self.place = ""
        self.input = Tensor(INPUT, input_shape)
        self._layers: list[Layer] = []

    def network(self) -> Network:
        """All that was added."""
        return Network(self.name, self.input.shape, self._layers)

    def conv(
        self,
        name: str,
        x: Tensor,
        k: int,
        filters: PairLike,
        stride: PairLike = 1,
        padding: PaddingLike = 0,
        dilation: PairLike = 1,
        groups: int = 1,
        norm: bool = True,
    ) -> Tensor:
        """A convolution, with a batch norm (and no bias) or with a bias."""
        r, s = filters if isinstance(filters, tuple) else (filters, filters)
        n, c, h, w = x.shape
        spec = ConvSpec(n, c, h, w, k, r, s, stride, padding, dilation, groups)
        biases, scales = (0, 2 * k) if norm else (k, 0)
        return self._add(Layer(name, "conv", (x.name,), spec.output_shape, spec, biases, scales, self.place))

    def transposed(self, name: str, x: Tensor, k: int, filters: int, stride: int) -> Tensor:
        """A transposed convolution with a bias."""
        n, c, h, w = x.shape
        spec = ConvTransposeSpec(n, c, h, w, k, filters, filters, stride)
        return self._add(Layer(name, "transposed", (x.name,), spec.output_shape, spec, k, place=self.place))

    def linear(self, name: str, x: Tensor, k: int) -> Tensor:
        """A fully connected layer with a bias, of all elements of an image."""
        n, *rest = x.shape
        c = 1
        for size in rest:
            c *= size
        return self._add(Layer(name, "linear", (x.name,), (n, k), GemmSpec(n, k, c), k, place=self.place))

    def max_pool(self, name: str, x: Tensor, window: int, stride: int, padding: int = 0) -> Tensor:
        """The largest of each window: the sizes are those of a depthwise convolution."""
        n, c, h, w = x.shape
        p, q = ConvSpec(n, c, h, w, c, window, window, stride, padding, groups=c).output_shape[2:]
        return self._add(Layer(name, "max_pool", (x.name,), (n, c, p, q), place=self.place))

    def average(self, name: str, x: Tensor) -> Tensor:
        """The mean of each channel."""
        n, c, *_ = x.shape
        return self._add(Layer(name, "average_pool", (x.name,), (n, c, 1, 1), place=self.place))

    def join(self, name: str, kind: Literal["add", "concat"], tensors: tuple[Tensor, ...]) -> Tensor:
        """Add tensors, or put their channels side by side; of larger ones the middle counts, cut to the last's size."""
        n, _, p, q = tensors[-1].shape
        channels = [each.shape[1] for each in tensors]
        k = channels[0] if kind == "add" else sum(channels)
        return self._add(Layer(name, kind, tuple(each.name for each in tensors), (n, k, p, q), place=self.place))

    def _add(self, layer: Layer) -> Tensor:
        self._layers.append(layer)
        return Tensor(layer.name, layer.output_shape)
