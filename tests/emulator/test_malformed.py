"""PTX that is cut off or mixed up ends in an error of ours, or runs; it never ends in a traceback from inside."""

from __future__ import annotations

import random

import numpy as np
import pytest

from convlab.errors import ConvlabError
from convlab.executors.compile import compile
from convlab.executors.launch import launch
from convlab.executors.module import load_ptx
from convlab.kernels.ladder import method
from convlab.spec import ConvSpec

SPEC = ConvSpec(n=2, c=3, h=7, w=5, k=2, r=3, s=2)
PIECES = ["%r1", "%rd5", "%f3", "%p2", "-1", "0f7FFFFFFF", "[%rd1]", "ret", "bra", "{", "}", ";", ".reg", ".param"]
PIECES += ["add.s32", "ld.global.f32", "$L__BB0_2", "9" * 30, "@%p1", ".loc", '"x', ""]


@pytest.fixture(scope="module")
def plan():
    (step,) = method("naive").plan(SPEC).launches
    return step, compile(step.text(), step.source).ptx


def spoilt(text: str, rng: random.Random) -> str:
    """The text cut off, or with a piece, a line or a word in the wrong place."""
    at = rng.randrange(len(text))
    lines = text.split("\n")
    words = lines[line := rng.randrange(len(lines))].split(" ")
    words[rng.randrange(len(words))] = rng.choice(PIECES)
    changed = [*lines[:line], " ".join(words), *lines[line + 1 :]]
    copied = [*lines[:line], rng.choice(lines), *lines[line + 1 :]]
    piece = text[:at] + rng.choice(PIECES) + text[at + rng.randrange(6) :]
    return rng.choice([text[:at], piece, "\n".join(changed), "\n".join(copied)])


@pytest.mark.parametrize("seed", range(12))
def test_spoilt_ptx_is_refused_or_runs(plan, seed):
    step, ptx = plan
    rng = random.Random(seed)
    refused = 0
    for _ in range(25):
        x, w = (np.ones(shape, "f4") for shape in (SPEC.input_shape, SPEC.weight_shape))
        y = np.zeros(SPEC.output_shape, "f4")
        try:
            kernels = load_ptx(spoilt(ptx, rng)).kernels
            if step.entry in kernels:
                arguments = [x, w, None, y, step.arguments[-1]]
                options = {"device": "emulator", "budget": 20_000, "faults": "record"}
                launch(kernels[step.entry], (1, 2, 2), 32, arguments, **options)
        except ConvlabError:
            refused += 1
    assert refused > 5
