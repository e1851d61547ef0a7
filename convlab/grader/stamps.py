"""Reads when something was handed in."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

__all__ = ["parse_time"]

_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(.*)")
_OFFSET = re.compile(r"[+-]\d\d:?\d\d")


def parse_time(text: str) -> datetime | None:
    """Read a date and time as nbgrader, Moodle's tables and ISO 8601 have them; ``None`` where it is none.

    >>> parse_time("2027-02-01 23:10:05.25 UTC").isoformat()
    '2027-02-01T23:10:05.250000+00:00'
    >>> parse_time("2027-02-01T23:10+01:00").isoformat()
    '2027-02-01T23:10:00+01:00'

    A time without a zone counts as UTC, as nbgrader writes them.
    """
    found = _STAMP.fullmatch(text.strip())
    if not found:
        return None
    try:
        zone = _zone(found[2].strip())
        return datetime.fromisoformat(found[1]).replace(tzinfo=zone)
    except (ValueError, OSError, LookupError):  # the thirtieth of February; a zone that nobody knows
        return None


def _zone(name: str) -> tzinfo:
    if _OFFSET.fullmatch(name):
        offset = datetime.strptime(name, "%z").tzinfo
        assert offset is not None
        return offset
    return UTC if name in ("", "Z", "UTC", "GMT") else ZoneInfo(name)
