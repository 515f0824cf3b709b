"""Times in an answer: the forms that are read, the zone of naive ones, and what is no time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.moments import moment
from jobconsole.core.numbers import number, whole, why_no_number


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]  # as many parts as the reader needs


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-11-29T11:59:00Z", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29t11:59:00z", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29 11:59:00.5", utc(2026, 11, 29, 11, 59, 0, 500_000)),
        ("2026-11-29T11:59:00", utc(2026, 11, 29, 11, 59)),  # naive: UTC
        ("2026-11-29T12:59:00+01:00", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29T12:59:00+0100", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29T06:29:00-05:30", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29 11:59:00 UTC", utc(2026, 11, 29, 11, 59)),
        ("2026-11-29T11:59:00.123456789Z", utc(2026, 11, 29, 11, 59, 0, 123_000)),  # cut to milliseconds
        ("2016-12-31T23:59:60Z", utc(2017, 1, 1)),  # a leap second
        ("Sun, 29 Nov 2026 11:59:00 GMT", utc(2026, 11, 29, 11, 59)),
        ("1795953540", utc(2026, 11, 29, 11, 59)),
        (1_795_953_540, utc(2026, 11, 29, 11, 59)),
        (1_795_953_540.25, utc(2026, 11, 29, 11, 59, 0, 250_000)),
        ("1795953540000", utc(2026, 11, 29, 11, 59)),  # above 1e11: milliseconds
        (0, utc(1970, 1, 1)),
        (100_000_000_000, utc(5138, 11, 16, 9, 46, 40)),  # the last one that counts seconds
    ],
)
def test_every_form_gives_the_same_moment(value: Any, at: datetime) -> None:
    """Case LC-12."""
    assert moment(value, about=utc(2026, 11, 29)) == at


def test_a_naive_time_is_read_in_the_contract_s_zone() -> None:
    assert moment("2026-11-29T12:59:00", "Europe/Berlin") == utc(2026, 11, 29, 11, 59)
    assert moment("2026-11-29T11:59:00Z", "Europe/Berlin") == utc(2026, 11, 29, 11, 59)


@pytest.mark.rule("B18")
@pytest.mark.parametrize(
    "value",
    [
        *("yesterday", "", "2026-11-29", "12:00:00", "2026-02-30T00:00:00Z", "2026-11-29T25:00:00Z", "2026-11-29T11:59:61Z"),
        *("2026-W48-7", "20261129T115900Z", "2026-11-29T11:59:00+99:00", "0000-01-01T00:00:00Z", "99999-01-01T00:00:00Z"),
        *(-1, True, None, [], {}, float("nan"), float("inf"), 10**400, 1e300, "1e9", "²", "0x10"),
        *("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00"),  # leaves the calendar in UTC
    ],
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert moment(value, about=utc(2026, 11, 29)) is None


@pytest.mark.rule("B18")
@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.from_regex(r"[0-9TZ:. +-]{0,30}")))
def test_no_value_raises_and_every_time_is_aware(value: Any) -> None:
    at = moment(value, "America/New_York", about=utc(2026, 11, 29))
    assert at is None or at.tzinfo is UTC


@pytest.mark.rule("B18")
@pytest.mark.parametrize(
    ("value", "found"),
    [
        *((3, 3.0), (3.5, 3.5), ("3", 3.0), (" 39.0 ", 39.0), ("-2", -2.0), (0, 0.0)),
        *(
            (True, None),
            (False, None),
            (None, None),
            ("", None),
            ("3 %", None),
            ("1e3", None),
            ("²", None),
            ([], None),
            ({}, None),
        ),
        *((float("nan"), None), (float("inf"), None), ("nan", None), (10**400, None), (1e300, None), ("9" * 500, None)),
    ],
)
def test_numbers_are_finite_in_range_and_of_their_type(value: Any, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize(("value", "found"), [(3, 3), (3.0, 3), ("3", 3), ("3.0", 3), (3.5, None), (True, None), ("x", None)])
def test_counts_are_whole(value: Any, found: int | None) -> None:
    assert whole(value) == found


@pytest.mark.rule("C5")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        (True, "true or false is no number"),
        (-1, "negative"),
        ("-1", "negative"),
        (float("nan"), "not finite"),
        ("Infinity", "not finite"),
        (10**400, "out of range"),
        ("soon", "not a number"),
        ({"s": 4}, "of the wrong type"),
    ],
)
def test_a_rejection_says_why(value: Any, why: str) -> None:
    assert why_no_number(value) == why
