"""The weights of P-Net, from the package mtcnn, which ships them under the MIT licence."""

from __future__ import annotations

import importlib
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convlab.errors import ConvlabError

__all__ = ["Weights", "load_weights"]

Array = npt.NDArray[Any]
# Shapes in the file: filters (R, S, C, K), biases (K,), slopes (1, 1, K); then the two heads.
SHAPES = [
    *((3, 3, 3, 10), (10,), (1, 1, 10)),
    *((3, 3, 10, 16), (16,), (1, 1, 16)),
    *((3, 3, 16, 32), (32,), (1, 1, 32)),
    *((1, 1, 32, 4), (4,), (1, 1, 32, 2), (2,)),
]  # fmt: skip


class Weights(NamedTuple):
    """Filters (K, C, R, S), biases (K,) and slopes (K,) of the three convolutions; filters and biases of the heads."""

    filters: tuple[Array, Array, Array]
    biases: tuple[Array, Array, Array]
    slopes: tuple[Array, Array, Array]
    box: tuple[Array, Array]
    face: tuple[Array, Array]


@lru_cache(maxsize=1)
def load_weights() -> Weights:
    """Read the weights of the network that Zhang and others trained.

    >>> weights = load_weights()
    >>> [w.shape for w in weights.filters], weights.face[0].shape
    ([(10, 3, 3, 3), (16, 10, 3, 3), (32, 16, 3, 3)], (2, 32, 1, 1))

    Raises ``ConvlabError`` where the package mtcnn is not installed, or has other weights.
    Source: Zhang, Zhang, Li and Qiao, Joint face detection and alignment using multitask cascaded convolutional
    networks (2016), figure 2.
    """
    found = importlib.util.find_spec("mtcnn")  # not imported: it would ask for TensorFlow
    if found is None or found.origin is None:
        raise ConvlabError(
            "The weights of P-Net come with the package mtcnn, which is not installed.\n"
            "  Fix: pip install mtcnn (2 MB; it needs no TensorFlow for this)."
        )
    path = Path(found.origin).parent / "assets" / "weights" / "pnet.lz4"
    try:
        arrays = importlib.import_module("joblib").load(path)
    except OSError:
        arrays = []
    if [each.shape for each in arrays] != SHAPES:
        raise ConvlabError(f"{path} does not hold the weights that mtcnn 1.0 has.\n  Fix: pip install mtcnn==1.0.0.")
    return Weights(
        filters=(_kcrs(arrays[0]), _kcrs(arrays[3]), _kcrs(arrays[6])),
        biases=(arrays[1], arrays[4], arrays[7]),
        slopes=(arrays[2].reshape(-1), arrays[5].reshape(-1), arrays[8].reshape(-1)),
        box=(_kcrs(arrays[9]), arrays[10]),
        face=(_kcrs(arrays[11]), arrays[12]),
    )


def _kcrs(filters: Array) -> Array:
    return np.ascontiguousarray(filters.transpose(3, 2, 0, 1))
