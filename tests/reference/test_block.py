from __future__ import annotations

import numpy as np
import pytest

from convlab.errors import ArgumentError
from convlab.reference.block import block_direct
from convlab.reference.direct import oracle
from convlab.spec import BlockSpec, ConvSpec

CONV = ConvSpec(n=2, c=3, h=9, w=6, k=5, r=3, s=2, padding=1)
RNG = np.random.default_rng(0)
X, W = RNG.standard_normal(CONV.input_shape), RNG.standard_normal(CONV.weight_shape)
BIAS, SCALE, SHIFT = RNG.standard_normal((3, 5))


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("number", range(8))
def test_a_block_is_its_steps_one_after_the_other(relu, pool, number):
    bias, scale, shift = (array if number >> i & 1 else None for i, array in enumerate((BIAS, SCALE, SHIFT)))
    y = block_direct(X, W, bias, scale, shift, BlockSpec(CONV, relu, pool))
    expected = oracle(X, W, bias, CONV)
    for n, k, p, q in np.ndindex(*y.shape):
        window = expected[n, k, 2 * p : 2 * p + 2, 2 * q : 2 * q + 2] if pool else expected[n, k, p, q]
        value = window * (1 if scale is None else scale[k]) + (0 if shift is None else shift[k])
        np.testing.assert_allclose(y[n, k, p, q], max(value.max(), 0 if relu else -np.inf), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["f2", "f4", "i4"])
def test_the_result_keeps_the_type(dtype):
    x, w, scale = (np.round(4 * array).astype(dtype) for array in (X, W, SCALE))
    y = block_direct(x, w, None, scale, scale, BlockSpec(CONV, relu=True, pool=True))
    assert y.dtype == x.dtype


@pytest.mark.parametrize("name", ["scale", "shift"])
def test_one_number_a_channel_is_asked_for(name):
    given = {"scale": None, "shift": None, name: np.ones(3)}
    message = rf"(?s){name} has shape \(3,\), but the spec needs \(K,\) = \(5,\).*BlockSpec.*Give {name} one number"
    with pytest.raises(ArgumentError, match=message):
        block_direct(X, W, None, **given, spec=BlockSpec(CONV))


@pytest.mark.parametrize("name", ["scale", "shift"])
def test_one_type_is_asked_for(name):
    given = {"scale": None, "shift": None, name: np.ones(5, "f4")}
    message = rf"(?s){name} is float32, but x is float64\..*BlockSpec.*Fix: Give all arrays one type"
    with pytest.raises(ArgumentError, match=message):
        block_direct(X, W, None, **given, spec=BlockSpec(CONV))


@pytest.mark.parametrize(("scale", "shift"), [(127, None), (None, 127)])
def test_an_integer_never_goes_around(scale, shift):
    x, w = np.ones(CONV.input_shape, "i1"), np.ones(CONV.weight_shape, "i1")
    scale, shift = (number and np.full(5, number, "i1") for number in (scale, shift))
    with pytest.raises(ArgumentError, match=r"the output holds \d+, but int8 goes from -128 to 127"):
        block_direct(x, w, None, scale, shift, BlockSpec(CONV))
