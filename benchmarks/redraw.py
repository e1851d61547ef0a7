"""From a slider's new value to the redrawn SVG, inside of the kernel: what a hand on a slider waits for at most.

Matplotlib, reusing one figure with three axes, is the peer: it is what a notebook would otherwise draw with.

    uv run python benchmarks/redraw.py [--record]
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from record import main, seconds

mpl.use("Agg")
import matplotlib.pyplot as plt

from convlab import explore

SIZES = {"default, 6×7": {}, "largest, 16×16 with 7×7": {"h": 16, "w": 16, "r": 7, "s": 7, "padding": 3}}


def explorer_seconds(initial: dict[str, int]) -> float:
    """Move the stride slider to and fro."""
    explorer = explore.window(**initial)
    steps = itertools.cycle([2, 1])

    def move() -> None:
        explorer.numbers["stride"].value = next(steps)
        assert explorer.spec is not None

    return seconds(move, repeats=41)


def matplotlib_seconds() -> float:
    """Redraw three images of the default's sizes into one figure that exists, and make a PNG of it."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    images = [axis.imshow(np.zeros(shape)) for axis, shape in zip(axes, ((8, 9), (3, 3), (6, 7)), strict=True)]
    rng = np.random.default_rng(0)

    def draw() -> None:
        for image in images:
            image.set_data(rng.random(image.get_array().shape))
        figure.savefig(io.BytesIO(), format="png")

    return seconds(draw, repeats=21)


def measure() -> dict[str, Any]:
    """Milliseconds, and the ratio to the peer."""
    calls: dict[str, Callable[[], float]] = {
        name: (lambda initial=initial: explorer_seconds(initial)) for name, initial in SIZES.items()
    }
    found = {name: 1e3 * call() for name, call in calls.items()}
    peer = 1e3 * matplotlib_seconds()
    return {
        "milliseconds from slider to SVG": {name: round(value, 2) for name, value in found.items()},
        "milliseconds of a reused Matplotlib figure": round(peer, 1),
        "times faster": {name: round(peer / value, 1) for name, value in found.items()},
    }


if __name__ == "__main__":
    main("redraw", measure)
