from __future__ import annotations

import numpy as np
import pytest

from convlab.emulator.observers.shadow import mark, some_unwritten


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_marks_and_complaints_agree_with_sets_of_bytes(width):
    rng = np.random.default_rng(width)
    flags = np.zeros(100, np.bool_)
    written: set[int] = set()
    for _ in range(30):
        address = rng.integers(-20, 120, 3)
        mark(flags, address, width)
        written |= {int(a) + n for a in address if 0 <= a <= 100 - width for n in range(width)}
        assert set(np.flatnonzero(flags).tolist()) == written
        read = rng.integers(-20, 120, 40)
        missing = [sum(int(a) + n not in written for n in range(width)) for a in read]
        inside = (read >= 0) & (read <= 100 - width)
        for whole, expected in ((False, np.array(missing) > 0), (True, np.array(missing) == width)):
            bad = np.ones(40, np.bool_)
            assert some_unwritten(flags, read, width, whole, bad) == (expected & inside).sum()
            assert (bad == (expected & inside)).all()
