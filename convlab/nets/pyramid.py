"""A photo as an array, and a pyramid of smaller ones: a network that sees 12×12 pixels finds faces of any size so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from convlab.nets.pnet import CELL

__all__ = ["FACTOR", "levels", "shrunk", "to_network"]

Array = npt.NDArray[Any]
FACTOR = 0.709  # from one level to the next: half the area, about, as in MTCNN


def to_network(photo: Any) -> Array:
    """A photo as the network wants it: (3, H, W) of float32 from −1 to 1.

    >>> to_network(np.full((2, 5, 3), 255, "u1")).max()
    np.float32(0.99609375)

    Parameters: ``photo`` is (H, W, 3), (H, W, 4), whose last channel is left out, or (H, W), grey; whole numbers from 0
    to 255, or floats from 0 to 1, as Matplotlib reads them. Raises ``ValueError`` for anything else.
    """
    image = np.asarray(photo)
    grey = image.ndim == 2
    if not (grey or (image.ndim == 3 and image.shape[2] in (3, 4))):
        raise ValueError(
            f"The photo has shape {image.shape}, not (H, W, 3).\n  Fix: pass what plt.imread gives for a picture."
        )
    scale = 255.0 if image.dtype.kind == "f" else 1.0
    if image.dtype.kind not in "fui":
        raise ValueError(f"The photo is of {image.dtype}, not of numbers.\n  Fix: pass what plt.imread gives.")
    rgb = np.repeat(image[:, :, None], 3, axis=2) if grey else image[:, :, :3]
    values = (rgb.astype(np.float32) * np.float32(scale) - np.float32(127.5)) / np.float32(128)
    if not np.isfinite(values).all():
        raise ValueError("The photo has pixels that are no finite numbers.\n  Fix: replace them, with 0 for instance.")
    return np.ascontiguousarray(values.transpose(2, 0, 1))


def levels(height: int, width: int, smallest: float) -> Iterator[float]:
    """The scales at which a face is 12 pixels high: the first for ``smallest`` pixels, until the image is too small.

    >>> [round(scale, 3) for scale in levels(50, 60, smallest=24)]
    [0.5, 0.354, 0.251]
    """
    scale = CELL / smallest
    while min(height, width) * scale >= CELL:
        yield scale
        scale *= FACTOR


def shrunk(image: Array, scale: float) -> Array:
    """A smaller image, each of whose pixels is the mean of the area that it covers.

    >>> shrunk(np.arange(12, dtype="f4").reshape(1, 2, 6), 0.5)
    array([[[3.5, 5.5, 7.5]]], dtype=float32)

    Parameters: ``image`` is (C, H, W), ``scale`` up to 1; sizes are rounded up.
    """
    height, width = (max(1, int(np.ceil(size * scale - 1e-9))) for size in image.shape[1:])
    rows, columns = _shares(image.shape[1], height), _shares(image.shape[2], width)
    return np.ascontiguousarray(rows @ image @ columns.T, dtype=np.float32)


def _shares(before: int, after: int) -> Array:
    """How much of each pixel of a row goes into each of a shorter one: (after, before), rows of sum 1."""
    edges = np.arange(after + 1) * before / after
    pixels = np.arange(before)
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    shares: Array = np.clip(overlap, 0, None) * after / before
    return shares
