"""The cases of all families of rungs, merged: what each is tested on, and how far it may be off."""

from __future__ import annotations

from . import (
    cases_family,
    cases_fused,
    cases_gemm,
    cases_implicit,
    cases_layout,
    cases_tensor,
    cases_threads,
    cases_tiles,
    cases_transposed,
    cases_winograd,
)

FAMILIES = (
    *(cases_threads, cases_tiles, cases_gemm, cases_implicit, cases_tensor),
    *(cases_layout, cases_family, cases_transposed, cases_fused, cases_winograd),
)
CASES = {name: specs for family in FAMILIES for name, specs in family.CASES.items()}
# What a rung may be off beside the rounding of its sums, as a part of Σ|w·x|; each family says why.
RELATIVE = {name: part for family in FAMILIES for name, part in getattr(family, "RELATIVE", {}).items()}
