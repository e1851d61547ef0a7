"""The hidden seed and its file."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from convlab.grader.seeds import SeedFileError, seed_from


def test_a_seed_is_made_once_and_for_its_owner_alone(tmp_path):
    path = tmp_path / "seed"
    old = os.umask(0)
    try:
        seed = seed_from(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert seed_from(path) == seed
    assert seed.value.bit_length() > 64
    assert np.random.default_rng(seed.value)


def test_two_seeds_differ_and_so_do_their_ids_which_tell_nothing(tmp_path):
    one, other = seed_from(tmp_path / "a"), seed_from(tmp_path / "b")
    assert one.value != other.value
    assert one.id != other.id
    assert one.id not in str(one.value)
    assert len(one.id) == 8


def test_a_seed_of_ones_own_is_taken_and_closed_to_others(tmp_path):
    path = tmp_path / "seed"
    path.write_text(" 12345\n")
    path.chmod(0o644)
    assert seed_from(path).value == 12345
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_a_killed_run_left_empty_gets_its_seed(tmp_path):
    path = tmp_path / "seed"
    path.touch()
    assert seed_from(path) == seed_from(path)


@pytest.mark.parametrize("text", ["seed", "-5", "1.5", "0x10", "1 2", "9" * 200])
def test_what_is_no_seed_is_refused(text, tmp_path):
    path = tmp_path / "seed"
    path.write_text(text)
    with pytest.raises(SeedFileError, match=r"holds no seed\.\n  Fix: write one whole number into it"):
        seed_from(path)
    assert path.read_text() == text
