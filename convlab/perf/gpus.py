"""A table of real GPUs: the published figures, each with its source."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from convlab.perf.datasheet import Gpu, Waits
from convlab.perf.gpu_records import RECORDS

__all__ = ["GPUS", "Gpu", "Waits", "gpu", "recognise"]

GPUS: Mapping[str, Gpu] = {record.name: record for record in RECORDS}


def gpu(name: str) -> Gpu:
    """Look a GPU up by its name.

    >>> gpu("A100").dram_gbs
    1555

    Raises ``ValueError``, with the nearest names, when it is not in the table.
    """
    if name in GPUS:
        return GPUS[name]
    spellings = {known.casefold(): known for known in GPUS}
    near = difflib.get_close_matches(str(name).casefold(), spellings, n=1)
    guess = f" Did you mean {spellings[near[0]]!r}?" if near else ""
    raise ValueError(f"There is no GPU {name!r} in the table.{guess} It has: {', '.join(GPUS)}.")


def recognise(device: str) -> Gpu | None:
    """The record of a GPU as its driver names it, None where it is not in the table.

    >>> [found and found.name for found in map(recognise, ["NVIDIA A100-SXM4-40GB", "NVIDIA GeForce RTX 3060 Ti"])]
    ['A100', None]
    """
    # What makes another model of it, or a part of it; as does another memory.
    other = r"(?! (Ti|SUPER|D|Laptop|Mobile|Max|PCIe|NVL)\b)(?!.* MIG )"
    size = re.search(r"(\d+)GB", device)
    for name, found in GPUS.items():
        if re.search(rf"\b{name}\b{other}", device) and int(size[1] if size else found.dram_gb) == found.dram_gb:
            return found
    return None
