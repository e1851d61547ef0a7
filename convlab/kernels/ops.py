"""The operations of the course as a table: the tensors of each, their shapes and the order of their axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from convlab.kernels.method import Method
from convlab.spec import BlockSpec, ConvSpec, ConvTransposeSpec, GemmSpec, LayoutSpec, SeparableSpec

__all__ = ["LAYOUTS", "OPS", "Op", "permuted"]

Shape = tuple[int, ...]
# What differs from an op's own letters.
LAYOUTS: Mapping[str, Mapping[str, str]] = {"nhwc": {"x": "nhwc", "w": "krsc", "y": "npqk"}}


def permuted(shape: Shape, before: str, after: str) -> Shape:
    """A shape with its axes in the order of other letters.

    >>> permuted((2, 4, 9, 7), "nchw", "nhwc")
    (2, 9, 7, 4)
    """
    return shape if before == after else tuple(shape[before.index(letter)] for letter in after)


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: ``shapes(spec)`` gives its inputs' shapes in the order of a reference function's arguments.

    ``letters`` names the axes of every tensor, of the output ``y`` too; ``optional`` inputs may be ``None``; ``narrow``
    inputs have the method's ``dtype``, the others and the output its ``output_dtype``.

    >>> spec = ConvSpec(n=2, c=4, h=9, w=7, k=6, r=3, s=1, groups=2)
    >>> OPS["conv2d"].shapes(spec)
    {'x': (2, 4, 9, 7), 'w': (6, 2, 3, 1), 'bias': (6,)}
    >>> OPS["conv2d"].axes("nhwc")["w"]
    'krsc'
    >>> OPS["conv2d"].shapes_in(spec, "nhwc")["y"]
    (2, 7, 7, 6)
    """

    name: str
    spec: type
    letters: Mapping[str, str]
    shapes: Callable[[Any], dict[str, Shape]]
    optional: frozenset[str] = frozenset({"bias"})
    narrow: frozenset[str] = frozenset({"x", "w"})

    def axes(self, layout: str) -> Mapping[str, str]:
        """The letters of the tensors in a layout."""
        return {**self.letters, **LAYOUTS.get(layout, {})}

    def shapes_in(self, spec: Any, layout: str) -> dict[str, Shape]:
        """The shapes of the inputs and of the output in a layout."""
        before, after = self.letters, self.axes(layout)
        shapes = {**self.shapes(spec), "y": spec.output_shape}
        return {name: permuted(shape, before.get(name, ""), after.get(name, "")) for name, shape in shapes.items()}

    def dtype(self, name: str, method: Method) -> str:
        """The type that a method takes an input in, or gives the output in; "any" where it does not mind."""
        return method.dtype if name in self.narrow else method.output_dtype


def _conv2d(spec: ConvSpec) -> dict[str, Shape]:
    return {"x": spec.input_shape, "w": spec.weight_shape, "bias": (spec.k,)}


def _conv_transpose2d(spec: ConvTransposeSpec) -> dict[str, Shape]:
    return {"x": spec.input_shape, "w": spec.weight_shape, "bias": (spec.k,)}


def _gemm(spec: GemmSpec) -> dict[str, Shape]:
    return {"a": (spec.gemm_m, spec.gemm_k), "b": (spec.gemm_k, spec.gemm_n)}


def _layout(spec: LayoutSpec) -> dict[str, Shape]:
    return {"x": spec.input_shape}


def _separable(spec: SeparableSpec) -> dict[str, Shape]:
    return {
        "x": spec.depthwise.input_shape,
        "w_depthwise": spec.depthwise.weight_shape,
        "bias_depthwise": (spec.depthwise.k,),
        "w_pointwise": spec.pointwise.weight_shape,
        "bias_pointwise": (spec.k,),
    }


def _block(spec: BlockSpec) -> dict[str, Shape]:
    return {**_conv2d(spec.conv), "scale": (spec.conv.k,), "shift": (spec.conv.k,)}


OPS: Mapping[str, Op] = {
    op.name: op
    for op in (
        Op("conv2d", ConvSpec, {"x": "nchw", "w": "kcrs", "bias": "k", "y": "nkpq"}, _conv2d),
        Op(
            "conv_transpose2d",
            ConvTransposeSpec,
            {"x": "nchw", "w": "ckrs", "bias": "k", "y": "nkpq"},
            _conv_transpose2d,
        ),
        Op("gemm", GemmSpec, {"a": "mk", "b": "kn", "y": "mn"}, _gemm, frozenset(), frozenset({"a", "b"})),
        Op("layout", LayoutSpec, {}, _layout, frozenset(), frozenset({"x"})),  # its axes are those of the spec
        Op(
            "separable",
            SeparableSpec,
            {
                "x": "nchw",
                "w_depthwise": "kcrs",
                "bias_depthwise": "k",
                "w_pointwise": "kcrs",
                "bias_pointwise": "k",
                "y": "nkpq",
            },
            _separable,
            frozenset({"bias_depthwise", "bias_pointwise"}),
            frozenset({"x", "w_depthwise", "w_pointwise"}),
        ),
        Op(
            "block",
            BlockSpec,
            {"x": "nchw", "w": "kcrs", "bias": "k", "scale": "k", "shift": "k", "y": "nkpq"},
            _block,
            frozenset({"bias", "scale", "shift"}),
        ),
    )
}
