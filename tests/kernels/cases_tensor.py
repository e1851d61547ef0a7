"""What the rungs of convlab/kernels/rungs/tensor.py are tested on."""

from __future__ import annotations

CASES: dict[str, list] = {}
