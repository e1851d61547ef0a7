"""What mutants in CUDA C do on the public data, recorded: so that a check need not compile and run them all.

``signatures.json`` maps a key, a hash of a mutant's source and of the launch, to the kinds of faults, the budgets that
are exceeded, and weighted sums of the output. They only rule mutants out: one that fits is run after all, as is one
that is not recorded. ``tools/record_signatures.py`` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from convlab.checker.compare import Finding
from convlab.checker.launched import Launch
from convlab.checker.record import Floats

__all__ = ["FILE", "key", "may_be", "signature"]

FILE = Path(__file__).with_name("signatures.json")

Signature = list[list[Any]]  # faults, budgets exceeded, sums: as JSON holds them

_SUMS = 4
_NAN, _INFINITE = 770.0, 880.0  # what stands for them: far from any output
_NOISE = 1e-4  # of an element: above float32's rounding, below mistakes in data near 1


def key(source: str, launch: Launch, limits: Sequence[float] = ()) -> str:
    """What a signature depends on, as 20 hexadecimal digits: source, launch and the budgets' limits."""
    digest = sha256(source.encode())
    digest.update(repr((launch.entry, launch.grid, launch.block, launch.shared, launch.measures, *limits)).encode())
    for name, value in launch.arguments.items():
        digest.update(f"{name} {np.shape(value)} {np.asarray(value).dtype}".encode())
        digest.update(np.asarray(value).tobytes())
    return digest.hexdigest()[:20]


def signature(found: Finding) -> Signature:
    """What is recorded of a finding."""
    assert found.array is not None
    return [sorted(found.faults), sorted(found.over), [round(each, 4) for each in _sums(found.array)]]


def may_be(digits: str, found: Finding) -> bool:
    """Tell whether a finding may be that of a mutant's launch with this key; false only where it is known not to be."""
    recorded = _recorded().get(digits)
    if recorded is None:
        return True
    faults, over, sums = recorded
    if found.array is None or faults != sorted(found.faults) or over != sorted(found.over):
        return False
    return bool(np.allclose(_sums(found.array), sums, rtol=0, atol=_NOISE * (1 + np.sqrt(found.array.size))))


@lru_cache(maxsize=1)
def _recorded() -> dict[str, Signature]:
    recorded: dict[str, Signature] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return recorded


def _sums(array: Floats) -> list[float]:
    """Sums of all elements, weighted by fixed random numbers: equal for equal outputs, and hardly for others."""
    weights = np.random.default_rng(0).standard_normal((_SUMS, array.size))
    finite = np.clip(np.nan_to_num(array.ravel(), nan=_NAN, posinf=_INFINITE, neginf=-_INFINITE), -1e6, 1e6)
    return [float(each) for each in weights @ finite]
