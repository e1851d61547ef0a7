"""Which channels a filter of a grouped convolution sees: the channels and the filters, side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from convlab.spec import ConvSpec
from convlab.views.grid import Ids, Panel, join, pairs
from convlab.views.side import WHOLE
from convlab.views.words import count_text

__all__ = ["channel_links", "channel_panels"]

_KINDS = 6  # of groups, that colours tell apart


def channel_panels(spec: ConvSpec, channel: int, k: int) -> list[Panel]:
    """Draw the channels of the input and the filters, of which filter ``k`` and one channel are drawn above.

    >>> spec = ConvSpec(n=1, c=6, h=5, w=5, k=4, r=3, s=3, groups=2)
    >>> [(panel.name, panel.cols, panel.col_lines) for panel in channel_panels(spec, channel=4, k=2)]
    [('channels', 6, [3]), ('filters', 4, [2])]
    """
    channels, filters = spec.c // spec.groups, spec.k // spec.groups
    first = k // filters * channels
    return [
        _strip("channels", f"filter {k} reads {_range(first, channels)}; {channel} is drawn", spec.c, channels),
        _strip("filters", f"{count_text(filters, 'filter')} of each group; {k} is drawn", spec.k, filters),
    ]


def channel_links(spec: ConvSpec, k: int, ids: Mapping[str, Ids]) -> Ids:
    """Link each filter with the channels of its group; and the drawn outputs, those of filter ``k``, with its own."""
    channels, filters = ids["channels"].ravel(), ids["filters"].ravel()
    group = np.arange(channels.size) // (spec.c // spec.groups)
    of_filter = np.arange(filters.size) // (spec.k // spec.groups)
    at, seeing = np.nonzero(group[:, np.newaxis] == of_filter)
    read = [*channels[group == k // (spec.k // spec.groups)], *filters[k : k + 1]]
    return join(pairs(channels[at], filters[seeing]), pairs(ids["output"].reshape(-1, 1), read))


def _strip(name: str, words: str, count: int, of_group: int) -> Panel:
    drawn = min(count, WHOLE)
    groups = [at // of_group for at in range(drawn)]
    part = f" ({drawn} of {count} shown)" if drawn < count else ""
    return Panel(
        name=name,
        title=f"{name.capitalize()} in groups of {of_group}{part}",
        subtitle=words,
        rows=1,
        cols=drawn,
        labels=[f"{name[:-1]} {at} of group {group}" for at, group in enumerate(groups)],
        values=[str(at) for at in range(drawn)],
        kinds=[f"group{group % _KINDS}" for group in groups],
        col_lines=list(range(of_group, drawn, of_group)),
        line=1,
    )


def _range(first: int, count: int) -> str:
    return f"channels {first} to {first + count - 1}" if count > 1 else f"channel {first}"
