"""What the rungs of one thread, one output are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method

from .specs import specs_for

CASES = {"naive": specs_for(method("naive").supports, count=140)}
