"""What the rungs of one thread, one output are tested on."""

from __future__ import annotations

from convlab.kernels.ladder import method

from .specs import known_specs, specs_for

CASES = {"naive": specs_for(method("naive").supports, count=140) + known_specs(seed=10)}
