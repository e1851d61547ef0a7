"""Explore grouped convolution: which channels of the input a filter sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from convlab.explore.controls import Control, Range
from convlab.explore.explorer import Explorer, Limits
from convlab.spec import ConvSpec
from convlab.views.view import View
from convlab.views.window import window

__all__ = ["groups"]

_CONTROLS: dict[str, Control] = {
    "groups": Range("Groups G", 1, 6),
    "channels": Range("Channels each", 1, 4),
    "filters": Range("Filters each", 1, 3),
    "k": Range("Filter k", 0, 17),
    "c": Range("Its channel c", 0, 3),
}
_INSTEAD = "views.window(spec) draws every other convolution."
_SIZES = {"n": 1, "h": 6, "w": 7, "r": 3, "s": 3, "padding": 1}


def groups(groups: int = 2, channels: int = 3, filters: int = 2, k: int = 2, c: int = 0) -> Explorer:
    """Explore groups, with controls for their number and size, and for the filter and the channel that are drawn.

    >>> explorer = groups(groups=2, channels=3, filters=2, k=3, c=1)
    >>> explorer.view.panels[0].title, explorer.view.panels[1].title
    ('Input x[0, 4]', 'Filter w[3, 1]')

    Parameters: where the controls stand at first; ``channels`` and ``filters`` are those of each group, ``k`` counts
    filters through all groups, and ``c`` the channels of that filter. Raises ``ValueError`` for a value that its
    control does not reach.
    """
    initial = {"groups": groups, "channels": channels, "filters": filters, "k": k, "c": c}
    return Explorer("explore.groups", _CONTROLS, initial, _draw, limits=_limits, instead=_INSTEAD)


def _limits(values: Mapping[str, Any]) -> Limits:
    return {"k": (0, values["groups"] * values["filters"] - 1), "c": (0, values["channels"] - 1)}


def _draw(groups: int, channels: int, filters: int, k: int, c: int) -> View:
    return window(ConvSpec(**_SIZES, c=groups * channels, k=groups * filters, groups=groups), c=c, k=k)
