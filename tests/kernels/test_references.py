"""The reference methods of the table: they agree with the oracle, and decline just what their functions refuse."""

from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.kernels.ladder import methods
from convlab.kernels.layers import LAYERS
from convlab.kernels.ops import OPS

from .rungs import compare, random_inputs
from .specs import EDGES, random_specs

SPECS = {op: list(layers.values()) for op, layers in LAYERS.items()}
SPECS["conv2d"] += [*random_specs(25, seed=3), *random_specs(10, 4, r=1, s=1), *EDGES]  # with padding and groups
REFERENCES = [record for record in methods() if record.reference is not None]


@pytest.mark.parametrize("record", REFERENCES, ids=lambda record: record.name)
def test_a_reference_equals_the_oracle_or_says_why_not(record):
    supported = [spec for spec in SPECS[record.op] if record.supports(spec) is None]
    assert supported
    for seed, spec in enumerate(supported):
        tensors = random_inputs(record, spec, seed, optional=seed % 2 == 0)
        y = record.reference(*tensors.values(), spec)
        assert y.dtype == np.float32
        compare(record, spec, tensors, y.astype("f8"), relative=RELATIVE.get(record.name, 2e-7))


@pytest.mark.parametrize("record", REFERENCES, ids=lambda record: record.name)
def test_what_a_reference_declines_its_function_refuses(record):
    for spec in SPECS[record.op]:
        if record.supports(spec) is not None:
            tensors = random_inputs(record, spec, 1, optional=True)
            with pytest.raises((ArgumentError, ValueError)):
                record.reference(*tensors.values(), spec)


# What a method may be off beside rounding each of its sums: transforms subtract numbers of their own size.
RELATIVE = {"winograd_f2": 2e-6, "winograd_f4": 2e-5}


def test_every_op_has_a_reference():
    assert {record.op for record in REFERENCES} == set(OPS)
