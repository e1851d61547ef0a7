"""Each rung is better than the one before in what it was made for, by the factor that its header predicts."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from convlab.kernels.ladder import method, methods
from convlab.kernels.layers import LAYERS
from convlab.kernels.method import FOLDER
from convlab.perf.measures import measure

from .cases import RELATIVE
from .rungs import check_rung

CLAIMS = [(record.name, claim) for record in methods() for claim in record.claims]


@lru_cache(maxsize=64)
def runs_of(name, layer):
    return check_rung(name, LAYERS[method(name).op][layer], optional=False, relative=RELATIVE.get(name, 0.0))


@pytest.mark.parametrize(
    ("name", "claim"), CLAIMS, ids=[f"{name}: {claim.measure} than {claim.than}" for name, claim in CLAIMS]
)
def test_a_rung_keeps_its_promise(name, claim):
    spec = LAYERS[method(name).op][claim.layer]
    mine, theirs = (measure(claim.measure, runs_of(rung, claim.layer), spec) for rung in (name, claim.than))
    assert theirs > 0
    assert mine * claim.factor <= theirs, f"{theirs:.4g} against {mine:.4g}: {theirs / max(mine, 1e-9):.3g} times"


HEADER = ("Idea", "Parallelisation", "Expected limit", "Prediction", "Honest negatives")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.cu")), ids=lambda path: path.stem)
def test_a_header_says_idea_limit_prediction_and_negatives(path):
    head = path.read_text(encoding="utf-8").partition("#include")[0]
    assert [word for word in HEADER if f"// {word}" not in head] == []


WORDS = {
    **{2: "half|halve|halves|twice|two", 3: "three|third", 4: "four|quarter", 5: "five", 7: "seven", 8: "eight"},
    **{9: "nine", 10: "ten", 16: "sixteen"},
}


@pytest.mark.parametrize(("name", "claim"), CLAIMS, ids=[f"{name}: {claim.factor:g}" for name, claim in CLAIMS])
def test_the_header_of_a_rung_predicts_what_its_record_claims(name, claim):
    spec = LAYERS[method(name).op][claim.layer]
    headers = [step.text().partition("// Prediction")[2] for step in method(name).plan(spec).launches]
    predicted = " ".join(header.partition("// Honest negatives")[0] for header in headers)
    digits = rf"(?<![\d.]){re.escape(f'{claim.factor:g}')}(?!\d|\.\d)"
    assert re.search(rf"{digits}|\b({WORDS.get(claim.factor, 'none')})\b", predicted, re.IGNORECASE), predicted
