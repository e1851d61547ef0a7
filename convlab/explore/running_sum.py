"""Explore running sums: how many terms a format adds before its sum stops growing."""

from __future__ import annotations

from convlab.explore.controls import Control, Range, Text
from convlab.explore.explorer import Explorer
from convlab.views.formats import read
from convlab.views.running_sum import running_sum as draw

__all__ = ["running_sum"]

_EXAMPLES = ("0.001", "0.1", "1", "3", "16", "0.0001", "1e-9")
_CONTROLS: dict[str, Control] = {"terms": Range("Terms", 16, 65536), "term": Text("Each is", _EXAMPLES, read)}


def running_sum(term: float | str = "0.001", terms: int = 8192) -> Explorer:
    """Explore a sum of many equal terms in FP16, BF16 and FP32, with controls for the term and their number.

    >>> explorer = running_sum("1", 4096)
    >>> explorer.view.sums
    {'float16': 2048.0, 'bfloat16': 256.0, 'float32': 4096.0}

    Parameters: where the controls stand at first, as in ``views.running_sum``. Raises ``ValueError`` for a value that
    its control does not reach.
    """
    initial = {"terms": terms, "term": str(term)}
    instead = "views.running_sum(…) adds more terms."
    return Explorer("explore.running_sum", _CONTROLS, initial, draw, instead=instead)
