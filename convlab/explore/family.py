"""Explore the family of convolutions: channels, groups, filter and image against parameters, MACs, bytes, intensity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.family import FamilyView
from convlab.views.family import family as draw_family

__all__ = ["family"]

_CONTROLS = {
    "c": Range("Inputs C", 1, 64),
    "k": Range("Outputs K", 1, 64),
    "groups": Range("Groups G", 1, 64),
    "filter_size": Range("Filter R = S", 1, 7),
    "image": Range("Image H = W", 1, 64),
}


def family(c: int = 8, k: int = 8, groups: int = 2, filter_size: int = 3, image: int = 32) -> Explorer:
    """Explore standard, grouped, depthwise, pointwise and separable convolutions side by side.

    >>> explorer = family(c=6, k=9, groups=3)
    >>> explorer.controls["groups"].value = 1
    >>> explorer.view.costs["grouped"] == explorer.view.costs["standard"]
    True

    Parameters: where the controls stand at first, channels and pixels; the output is as large as the image. Raises
    ``ValueError`` for a value that its control does not reach.
    """
    initial = {"c": c, "k": k, "groups": groups, "filter_size": filter_size, "image": image}
    instead = "views.family(spec) draws every other size."
    return Explorer("explore.family", _CONTROLS, initial, _draw, limits=_limits, instead=instead)


def _limits(values: Mapping[str, Any]) -> Limits:
    """At most as many groups as divide both numbers of channels; what lies between may be none of the divisors."""
    return {"groups": (1, math.gcd(values["c"], values["k"]))}


def _draw(c: int, k: int, groups: int, filter_size: int, image: int) -> FamilyView:
    if c % groups or k % groups:
        both = math.gcd(c, k)
        fitting = ", ".join(str(number) for number in range(1, both + 1) if both % number == 0)
        raise ValueError(f"{groups} groups do not divide C={c} and K={k}: G can be {fitting}.")
    sizes = {"n": 1, "c": c, "h": image, "w": image, "k": k, "r": filter_size, "s": filter_size}
    return draw_family(ConvSpec(**sizes, padding="same", groups=groups))
