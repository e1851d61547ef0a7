"""Boxes, and which of many that overlap to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["overlap", "suppress"]

Array = npt.NDArray[Any]


def overlap(box: Array, boxes: Array, of: str = "union") -> Array:
    """How far each of some boxes covers the same as one box: from 0 to 1.

    >>> overlap(np.array([0, 0, 4, 2]), np.array([[2, 0, 6, 2], [0, 0, 2, 1], [9, 9, 10, 10]]))
    array([0.33333333, 0.25      , 0.        ])

    Parameters: a box is left, top, right, bottom; ``of`` is "union", or "smaller": of the smaller of the two areas.
    """
    low, high = np.maximum(box[:2], boxes[:, :2]), np.minimum(box[2:], boxes[:, 2:])
    common = np.prod(np.clip(high - low, 0, None), axis=1)
    one, others = np.prod(box[2:] - box[:2]), np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    whole = one + others - common if of == "union" else np.minimum(one, others)
    part: Array = common / np.maximum(whole, 1e-12)
    return part


def suppress(boxes: Array, scores: Array, most: float, of: str = "union") -> list[tuple[int, Array]]:
    """Keep the box with the best score, drop all that overlap it by more than ``most``, and go on with the rest.

    >>> boxes = np.array([[0, 0, 4, 4], [1, 0, 5, 4], [8, 8, 9, 9]])
    >>> [(kept, dropped.tolist()) for kept, dropped in suppress(boxes, np.array([0.7, 0.9, 0.8]), most=0.5)]
    [(1, [1, 0]), (2, [2])]

    Returns the numbers of the boxes that stay, the best first, each with those that it stands for, itself the first.
    """
    order = np.argsort(-scores, kind="stable")
    kept = []
    while order.size:
        best = order[0]
        same = overlap(boxes[best], boxes[order], of) > most
        same[0] = True  # a box without area overlaps nothing
        kept.append((int(best), order[same]))
        order = order[~same]
    return kept
