"""What the rungs of convlab/kernels/rungs/family.py are tested on."""

from __future__ import annotations

CASES: dict[str, list] = {}
