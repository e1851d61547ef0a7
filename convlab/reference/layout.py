"""A change of layout in NumPy: the same elements, copied into another order."""

from __future__ import annotations

from convlab.reference.checks import Array, check_shape
from convlab.spec import LayoutSpec

__all__ = ["layout_copy"]


def layout_copy(x: Array, spec: LayoutSpec) -> Array:
    """Copy a tensor into the order of axes that the spec asks for.

    >>> import numpy as np
    >>> spec = LayoutSpec(n=1, c=2, h=1, w=3)
    >>> layout_copy(np.array([[[[1, 2, 3]], [[4, 5, 6]]]]), spec).ravel()
    array([1, 4, 2, 5, 3, 6])

    Parameters: ``x`` of ``spec.input_shape``, any type. Returns a contiguous array of ``spec.output_shape``. Raises
    ``ArgumentError`` for another shape.
    """
    letters = f"({', '.join(spec.source.upper())})"
    check_shape("x", x, letters, spec.input_shape, spec, "Reshape x, or make the spec that belongs to it")
    return x.transpose([spec.source.index(letter) for letter in spec.target]).copy()
