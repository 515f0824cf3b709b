"""Quiet hours: in a named zone, over midnight, right on the two days on which clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobconsole.core.telling.quiet_hours import QuietHours, parse_quiet_hours


def hours(text: str, zone: str = "Europe/Berlin") -> QuietHours:
    """The quiet hours of a text that is one."""
    found = parse_quiet_hours(text, ZoneInfo(zone))
    assert found is not None
    return found


def utc(text: str) -> datetime:
    """`2026-11-29 21:00` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "now", "ends"),
    [
        # Berlin in winter is UTC+1: 22:00-07:00 there is 21:00-06:00 in UTC.
        ("22:00-07:00", "Europe/Berlin", "2026-11-29 20:59:59", None),
        ("22:00-07:00", "Europe/Berlin", "2026-11-29 21:00", "2026-11-30 06:00"),
        ("22:00-07:00", "Europe/Berlin", "2026-11-30 00:30", "2026-11-30 06:00"),
        ("22:00-07:00", "Europe/Berlin", "2026-11-30 05:59:59", "2026-11-30 06:00"),
        ("22:00-07:00", "Europe/Berlin", "2026-11-30 06:00", None),
        # In summer it is UTC+2.
        ("22:00-07:00", "Europe/Berlin", "2026-07-01 20:00", "2026-07-02 05:00"),
        # Within one day, and in a zone whose day is another one than UTC's.
        ("12:00-13:30", "UTC", "2026-11-29 12:00", "2026-11-29 13:30"),
        ("12:00-13:30", "UTC", "2026-11-29 13:30", None),
        ("22:00-07:00", "Pacific/Auckland", "2026-11-29 09:00", "2026-11-29 18:00"),  # 22:00 there, UTC+13
        ("00:00-06:00", "Asia/Kathmandu", "2026-11-28 18:15", "2026-11-29 00:15"),  # UTC+5:45
        # The night before 29 March 2026 has 8 of the 9 hours, that before 25 October 10.
        ("22:00-07:00", "Europe/Berlin", "2026-03-28 21:00", "2026-03-29 05:00"),
        ("22:00-07:00", "Europe/Berlin", "2026-10-24 20:00", "2026-10-25 06:00"),
        # 02:30 comes twice: quiet until its second coming. It is skipped: quiet until as far behind the gap.
        ("22:00-02:30", "Europe/Berlin", "2026-10-25 00:30", "2026-10-25 01:30"),
        ("22:00-02:30", "Europe/Berlin", "2026-10-25 01:30", None),
        ("22:00-02:30", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 01:30"),
        ("02:30-04:00", "Europe/Berlin", "2026-10-25 00:30", "2026-10-25 03:00"),
        # On 29 March 02:00-03:00 is skipped at 01:00 UTC: what would have begun there begins with the gap.
        ("02:30-03:30", "Europe/Berlin", "2026-03-29 00:59:59", None),
        ("02:30-03:30", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 01:30"),
        ("02:30-03:30", "Europe/Berlin", "2026-03-29 01:29:59", "2026-03-29 01:30"),
        ("02:30-03:30", "Europe/Berlin", "2026-03-29 01:30", None),
        ("02:15-02:45", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 01:45"),
        ("02:30-03:00", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 01:30"),  # half an hour, as on any day
        ("02:00-03:00", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 02:00"),
        ("02:30-01:30", "Europe/Berlin", "2026-03-29 00:45", None),
        ("02:30-01:30", "Europe/Berlin", "2026-03-29 01:00", "2026-03-29 23:30"),
        # On 25 October it comes twice, at 00:00 and at 01:00 UTC: from the first 02:30 to the only 03:30.
        ("02:30-03:30", "Europe/Berlin", "2026-10-25 00:29:59", None),
        ("02:30-03:30", "Europe/Berlin", "2026-10-25 01:15", "2026-10-25 02:30"),
        ("02:30-03:30", "Europe/Berlin", "2026-10-25 02:30", None),
        ("02:15-02:45", "Europe/Berlin", "2026-10-25 00:15", "2026-10-25 01:45"),
        # A gap at midnight (Cairo, 24 April), and one of half an hour (Lord Howe, 4 October: 02:00 is 02:30, at 15:30 UTC).
        ("00:30-01:30", "Africa/Cairo", "2026-04-23 22:00", "2026-04-23 22:30"),
        ("02:10-03:00", "Australia/Lord_Howe", "2026-10-03 15:30", "2026-10-03 16:00"),
        ("02:10-03:00", "Australia/Lord_Howe", "2026-10-03 15:29:59", None),
    ],
)
def test_when_it_is_quiet_and_when_that_ends(text: str, zone: str, now: str, ends: str | None) -> None:
    assert hours(text, zone).end_of(utc(now)) == (utc(ends) if ends is not None else None)


def test_every_minute_of_a_year_ends_where_its_quiet_hours_end() -> None:
    """Whoever waits for the end finds it over then, and never waits longer than the night is long."""
    quiet, now = hours("22:00-07:00"), utc("2026-01-01 00:00")
    for _ in range(365 * 24):
        end = quiet.end_of(now)
        if end is not None:
            assert quiet.end_of(end) is None
            assert end - now <= timedelta(hours=10)
        now += timedelta(hours=1)


@pytest.mark.parametrize(
    "text", ["", "22-7", "24:00-07:00", "22:60-07:00", "22:00", "07:00-07:00", "22:00-07:00-09:00", "٢٢:00-07:00"]
)
def test_what_is_no_time_of_day_is_refused(text: str) -> None:
    assert parse_quiet_hours(text, ZoneInfo("UTC")) is None


def test_blanks_and_a_single_digit_are_understood() -> None:
    assert parse_quiet_hours(" 9:30 - 17:00 ", ZoneInfo("UTC")) == parse_quiet_hours("09:30-17:00", ZoneInfo("UTC"))


@pytest.mark.parametrize("day", ["2026-03-28", "2026-10-24"])
def test_whatever_the_clocks_do_quiet_hours_of_any_beginning_and_length_come_in_each_night(day: str) -> None:
    """Looked at every five minutes of 36 hours; none of them is shorter than that."""
    for quarter in range(96):
        begins = f"{quarter // 4:02}:{quarter % 4 * 15:02}"
        for minutes in (15, 60, 90):
            until = (quarter * 15 + minutes) % 1440
            quiet = hours(f"{begins}-{until // 60:02}:{until % 60:02}")
            now = utc(f"{day} 12:00")
            assert any(quiet.end_of(now + step * timedelta(minutes=5)) for step in range(36 * 12)), (begins, minutes)
