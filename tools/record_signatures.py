"""Record what every mutant in CUDA C does on the public data; with --check, only compare.

uv run tools/record_signatures.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from generated import renew
from tqdm import tqdm

from convlab.checker import EXERCISES
from convlab.checker.check import PUBLIC_SEED
from convlab.checker.kinds.kernel import imitate, key_of
from convlab.checker.record import Exercise
from convlab.checker.signatures import FILE, signature


def of_exercise(record: Exercise) -> dict[str, str]:
    """The signatures of an exercise's mutants as JSON, by key."""
    ways = [way for mutant in record.mutants for way in mutant.ways]
    return {
        key_of(record, way, case): json.dumps(signature(imitate(record, way, case)))
        for case in record.cases(np.random.default_rng(PUBLIC_SEED))
        for way in ways
    }


def files() -> dict[Path, str]:
    """The file, a launch in each line."""
    kernels = [record for record in EXERCISES.values() if record.kind == "kernel"]
    found: dict[str, str] = {}
    for record in tqdm(kernels, unit="exercise", delay=2, leave=False):
        found |= of_exercise(record)
    lines = ",\n".join(f'"{each}": {found[each]}' for each in sorted(found))
    return {FILE: f"{{\n{lines}\n}}\n"}


def main() -> int:
    """Write the file, or check it."""
    return renew(files, "record_signatures.py", __doc__)


if __name__ == "__main__":
    sys.exit(main())
