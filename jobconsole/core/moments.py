"""Points in time from outside: RFC 3339, the three HTTP-date forms, unix seconds and milliseconds.

Only this file decides which text or number is a time. Headers are read by it (`retry_after.py`), and the times of an answer
(`observation.py`). What is none is None, never an error; everything comes back in UTC, cut to milliseconds. Only a
program's own `datetime` is refused where it says no zone (`aware`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from jobconsole.core.numbers import number
from jobconsole.core.operation import milliseconds
from jobconsole.errors import InvalidValue

_MILLISECONDS_FROM = 1e11  # as unix seconds this is the year 5138: a larger number counts milliseconds (CONTRACT.md)
_MONTHS = {
    name: place
    for place, name in enumerate(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1)
}
_MONTH = f"({'|'.join(_MONTHS)})"
_CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2})"
_CLOCK_OF_DAY = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_IMF_FIXDATE = re.compile(rf"[a-z]{{3}}, ([0-9]{{2}}) {_MONTH} ([0-9]{{4}}) {_CLOCK} gmt")
_RFC_850 = re.compile(rf"[a-z]{{6,9}}, ([0-9]{{2}})-{_MONTH}-([0-9]{{2}}) {_CLOCK} gmt")
_ASCTIME = re.compile(rf"[a-z]{{3}} {_MONTH} ([ 0-9][0-9]) {_CLOCK} ([0-9]{{4}})")
_RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]{1,12}))?"
    r" ?(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?)?",
    re.IGNORECASE,
)


def http_date(text: str, *, about: datetime) -> datetime | None:
    """The time that an HTTP-date names (RFC 9110 5.6.7: all three forms), or None.

    `about` places the two-digit year of the RFC 850 form: more than 50 years after it means the century before.
    """
    text = text.strip(" \t").lower()
    if match := _IMF_FIXDATE.fullmatch(text):
        day, month, year, *clock = match.groups()
        return _utc(int(year), _MONTHS[month], int(day), clock)
    if match := _ASCTIME.fullmatch(text):
        month, day, *clock, year = match.groups()
        return _utc(int(year), _MONTHS[month], int(day), clock)
    if match := _RFC_850.fullmatch(text):
        day, month, year, *clock = match.groups()
        full = about.year // 100 * 100 + int(year)
        return _utc(full - 100 if full > about.year + 50 else full, _MONTHS[month], int(day), clock)
    return None


def moment(value: Any, zone: str = "UTC", *, about: datetime | None = None) -> datetime | None:
    """The time that a value of an answer names, or None. A text without an offset is read in `zone`."""
    if isinstance(value, str):
        text = value.strip()
        if (match := _RFC_3339.fullmatch(text)) is not None:
            return _rfc_3339(match, zone)
        if about is not None and (at := http_date(text, about=about)) is not None:
            return at
    seconds = number(value)
    if seconds is None or seconds < 0:
        return None
    seconds = seconds / 1_000 if seconds > _MILLISECONDS_FROM else seconds
    try:
        return milliseconds(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def aware(at: Any, what: str) -> datetime:
    """`at` in UTC, cut to milliseconds. Raises `InvalidValue`, naming `what` it is, where it is no time or says no zone."""
    if not isinstance(at, datetime):
        raise InvalidValue(f"{what} is a datetime, not {type(at).__name__}")
    if at.utcoffset() is None:
        raise InvalidValue(f"{what} has no time zone, so it names no moment; give a time zone: datetime(..., tzinfo=UTC)")
    try:
        return milliseconds(at)
    except OverflowError:
        raise InvalidValue(f"{what} lies outside the years 1 to 9999 in UTC") from None


def past_clock(text: str, now: datetime) -> datetime | None:
    """When a clock (UTC) last showed `10:20:31` or `10:20`, `now` included; None for what is no clock of the day."""
    if (match := _CLOCK_OF_DAY.fullmatch(text)) is None:
        return None
    hour, minute, second = (int(part or 0) for part in match.groups())
    at = now.astimezone(UTC).replace(hour=hour, minute=minute, second=second, microsecond=0)
    return at if at <= now else at - timedelta(days=1)


def _rfc_3339(match: re.Match[str], zone: str) -> datetime | None:
    year, month, day, *clock, fraction, offset = match.groups()
    at = _at(int(year), int(month), int(day), clock, _zone(offset, zone))
    if at is None:
        return None
    try:
        return milliseconds(at.astimezone(UTC) + timedelta(microseconds=int((fraction or "0").ljust(6, "0")[:6])))
    except OverflowError:
        return None


def _zone(offset: str | None, zone: str) -> tzinfo | None:
    if offset is None:
        return UTC if zone == "UTC" else ZoneInfo(zone)
    if offset.upper() in ("Z", "UTC", "GMT"):
        return UTC
    hours, minutes = int(offset[1:3]), int(offset[-2:]) if len(offset) > 3 else 0
    if hours > 23 or minutes > 59:
        return None
    ahead = timedelta(hours=hours, minutes=minutes)
    return timezone(-ahead if offset[0] == "-" else ahead)


def _utc(year: int, month: int, day: int, clock: list[str]) -> datetime | None:
    return _at(year, month, day, clock, UTC)


def _at(year: int, month: int, day: int, clock: list[str], zone: tzinfo | None) -> datetime | None:
    hour, minute, second = (int(part) for part in clock)
    if zone is None:
        return None
    try:  # a leap second is the first moment after it: datetime has no sixtieth second
        at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
        return at + timedelta(seconds=1) if second == 60 else at if second < 60 else None
    except (ValueError, OverflowError):
        return None
