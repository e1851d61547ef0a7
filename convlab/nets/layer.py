"""One layer of a network: its name and place, its sizes, and its parameters by kind."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from convlab.kernels.ops import OPS
from convlab.perf.trial import op_of
from convlab.spec import ConvSpec, ConvTransposeSpec, GemmSpec

__all__ = ["Layer", "LayerSpec"]

LayerSpec = ConvSpec | ConvTransposeSpec | GemmSpec
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """A step of a network that makes a new tensor; what changes one in place, such as ReLU, is none.

    >>> spec = ConvSpec(n=1, c=3, h=224, w=224, k=64, r=7, s=7, stride=2, padding=3)
    >>> layer = Layer("conv1", "conv", ("input",), spec.output_shape, spec, norm=128)
    >>> layer.weights, layer.parameters, layer.macs
    (9408, 9536, 118013952)

    Parameters:

    - ``name``, unique in its network; ``place`` says where that is, in the paper's words;
    - ``kind``: "conv", "transposed" or "linear", which have a ``spec``; "max_pool", "average_pool", "add", "concat",
      "norm" (a batch norm that no convolution comes before) or another word, which have none;
    - ``inputs``: names of the layers whose outputs it reads, "input" for the network's own;
    - ``output_shape``: (N, K, P, Q), or (N, K) of a fully connected layer;
    - ``biases`` and ``norm``: how many parameters are biases, and scales and shifts of the batch norm that follows.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    output_shape: Shape
    spec: LayerSpec | None = None
    biases: int = 0
    norm: int = 0
    place: str = ""

    @property
    def weights(self) -> int:
        """Elements of the filters, or of the matrix of a fully connected layer."""
        if self.spec is None:
            return 0
        shapes = OPS[op_of(self.spec)].shapes(self.spec)
        return prod(shapes["b" if isinstance(self.spec, GemmSpec) else "w"])

    @property
    def parameters(self) -> int:
        """What training changes: weights, biases, scales and shifts; the statistics of a batch norm do not count."""
        return self.weights + self.biases + self.norm

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the spec, with those on padding; 0 for a layer without weights."""
        return self.spec.macs if self.spec else 0

    def output_bytes(self, dtype: npt.DTypeLike) -> int:
        """Bytes of the output in a type."""
        return prod(self.output_shape) * np.dtype(dtype).itemsize

    def column_bytes(self, dtype: npt.DTypeLike) -> int:
        """Bytes of the im2col matrix of all groups and images; 0 where the input is that matrix as it is.

        >>> Layer("a", "conv", ("input",), (2, 4, 5, 6), ConvSpec(2, 3, 5, 6, 4, 3, 3, padding=1)).column_bytes("f4")
        6480
        """
        spec = self.spec
        if not isinstance(spec, ConvSpec) or _is_a_product(spec):
            return 0
        return spec.groups * prod(spec.im2col_shape) * np.dtype(dtype).itemsize

    def __str__(self) -> str:
        shape = "×".join(map(str, self.output_shape))
        return f"{self.name}: {self.spec}" if self.spec else f"{self.name}: {self.kind.replace('_', ' ')} → {shape}"


def _is_a_product(spec: ConvSpec) -> bool:
    return (spec.r, spec.s) == (1, 1) == spec.stride and not any(spec.padding)
