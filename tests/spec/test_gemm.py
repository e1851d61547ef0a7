from __future__ import annotations

import pytest

from convlab.spec import GemmSpec


def test_sizes_and_work():
    spec = GemmSpec(5, gemm_n=7, gemm_k=3)
    assert spec.output_shape == (5, 7)
    assert (spec.macs, spec.flops) == (105, 210)
    assert str(spec) == "5×3 · 3×7"
    assert GemmSpec.from_shapes((5, 3), (3, 7)) == spec


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GemmSpec(0, 7, 3), r"gemm_m=0 is less than 1\.\n  In: GemmSpec\(gemm_m=0, gemm_n=7, gemm_k=3\)"),
        (
            lambda: GemmSpec(2**40, 2**20, 2**10),
            r"multiply-accumulates, beyond 2\^63 − 1\.\n  In: .*\n  Fix: Use smaller",
        ),
        (
            lambda: GemmSpec.from_shapes((5, 3), (4, 7)),
            r"a has 3 columns, but b has 4 rows\.\n  In: GemmSpec\.from_shapes",
        ),
        (
            lambda: GemmSpec.from_shapes((5, 3, 1), (3, 7)),
            r"a has shape \(5, 3, 1\), but it needs \(M, K\).*\n.*\n  Fix: Giv",
        ),
        (lambda: GemmSpec.from_shapes((5, 3), (3, 0)), r"b\.shape\[1\] \(N\)=0 is less than 1"),
    ],
)
def test_what_does_not_fit_is_said_with_the_fix(make, message):
    with pytest.raises(ValueError, match=message):
        make()
