from __future__ import annotations

from dataclasses import replace

from convlab.emulator.faults import Fault, FaultLog, summary

READ = Fault(
    "out_of_bounds", "error", "global", "s.cu", 3, (), (1, 0, 0), (2, 0, 0), "reads x[9], which lies outside."
)


def test_a_fault_says_where_who_what_and_how_often():
    assert str(READ) == "s.cu:3: out of bounds: block (1, 0, 0), thread (2, 0, 0) reads x[9], which lies outside."
    assert str(replace(READ, count=1200)).endswith("outside. [1,200 times; the first is shown]")
    assert str(replace(READ, line=0)).startswith("out of bounds: block")


def test_the_log_folds_what_is_of_one_kind_line_and_thing():
    log = FaultLog()
    others = [replace(READ, line=4), replace(READ, kind="misaligned"), replace(READ, file="t.cu")]
    for fault in [READ, replace(READ, thread=(5, 0, 0), count=3), *others]:
        log.add(fault, "reads x")
    log.add(READ, "writes x")
    assert log.faults() == [replace(READ, count=4), *others, READ]


def test_a_summary_counts_what_it_leaves_out():
    text = summary([READ] * 9)
    assert text.count("out of bounds") == 5
    assert "… and 4 more.\nOn a GPU this reads or destroys other data" in text
    assert text.endswith("before the access, as in `if (i >= 0 && i < n)`.")
