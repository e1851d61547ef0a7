"""Times as nbgrader, Moodle and people write them."""

from __future__ import annotations

import pytest

from convlab.grader.stamps import parse_time

TIMES = {
    "2027-02-01 23:10:05.25 UTC": "2027-02-01T23:10:05.250000+00:00",
    "2027-02-01 23:10:05": "2027-02-01T23:10:05+00:00",
    "2027-02-01 23:10:05 America/New_York": "2027-02-01T23:10:05-05:00",
    "2027-02-01T23:10:05+0530": "2027-02-01T23:10:05+05:30",
    "2027-02-01T23:10:05-03:00\n": "2027-02-01T23:10:05-03:00",
    "2027-02-01T23:10Z": "2027-02-01T23:10:00+00:00",
}


@pytest.mark.parametrize(("text", "time"), TIMES.items())
def test_a_time_is_read_with_its_zone(text, time):
    assert parse_time(text).isoformat() == time


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2027-02-30 10:00", "2027-02-01 25:00 UTC", "2027-02-01 10:00 No/Where", "x" * 9999]
)
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None


@pytest.mark.parametrize("zone", ["../../../etc/passwd", "/etc/passwd", "\x00"])
def test_a_zone_is_no_way_to_a_file(zone):
    assert parse_time(f"2027-02-01 10:00 {zone}") is None
