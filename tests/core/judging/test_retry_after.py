"""Waiting times in headers: every valid form, every rejection, and what the other headers say about time and quota."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.judging.answer import RateLimit
from jobconsole.core.judging.retry_after import LONGEST_WAIT_S, HeaderFacts, read_headers
from tests.core.answers import DATE, NOON

TEN_YEARS = 10 * 365 * 86_400


def facts(*headers: tuple[str, str], at: datetime | None = NOON) -> HeaderFacts:
    return read_headers(headers, at)


@pytest.mark.rule("B7")
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),  # now
        ("1.5", 2),  # decimals are rounded up
        ("0.5", 1),
        ("292.25", 293),
        (" 30\t", 30),
        ("007", 7),
        ("0" * 5_000 + "5", 5),
        ("Sun, 29 Nov 2026 12:01:30 GMT", 90),
        ("Sunday, 29-Nov-26 12:01:30 GMT", 90),
        ("Sun Nov 29 12:01:30 2026", 90),
        ("Sun Nov  1 12:00:00 2026", 0),  # the day padded with a blank; past
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0),  # past: now
        ("sun, 29 nov 2026 12:01:30 gmt", 90),
        ("Sun, 29 Nov 2026 12:00:60 GMT", 60),  # a leap second
        ("10, 40, 20", 40),  # fields that a proxy joined
        ("9999999999", TEN_YEARS),  # 317 years
        ("99999999999999999999999999", TEN_YEARS),
        ("9" * 5_000, TEN_YEARS),
        ("Fri, 31 Dec 9999 23:59:59 GMT", TEN_YEARS),
    ],
)
def test_every_standard_form_names_a_wait(value: str, seconds: float) -> None:
    """Cases RA-01, RA-03, RA-06, RA-09."""
    found = facts(DATE, ("Retry-After", value))
    assert found.retry_after_s == seconds
    assert not found.rejected


@pytest.mark.rule("B7", "B18")
@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("-1", "negative"),
        ("-100", "negative"),
        ("-inf", "not finite"),
        ("nan", "not finite"),
        ("inf", "not finite"),
        ("1e999", "not a number"),
        ("1e3", "not a number"),
        ("", "empty"),
        ("  ", "empty"),
        ("soon", "not a number"),
        ("0x10", "not a number"),
        ("²", "not a number"),
        ("\u0661\u0662", "not a number"),  # Arabic digits
        ("5 seconds", "not a number"),
        ("1,5", None),  # two fields, 1 and 5
        ("+5", "not a number"),
        ("5.", "not a number"),
        (".5", "not a number"),
        ("1_000", "not a number"),
        ("Sun, 29 Nov 99999 12:00:00 GMT", "not a number"),
        ("Sun, 31 Feb 2026 12:00:00 GMT", "not a number"),
        ("Sun, 29 Nov 2026 24:00:00 GMT", "not a number"),
        ("Sun, 29 Nov 2026 12:01:30 +0100", "not a number"),
        ("2026-11-29T12:01:30Z", "not a number"),
    ],
)
def test_what_is_no_wait_is_rejected_and_recorded(value: str, why: str | None) -> None:
    """Case RA-04: neither an exception nor "ask at once"."""
    found = facts(DATE, ("Retry-After", value))
    if why is None:
        assert found.retry_after_s == 5
        return
    assert found.retry_after_s is None
    assert [(hint.what, hint.why) for hint in found.rejected] == [("retry-after", why)]


@pytest.mark.rule("B7")
@pytest.mark.parametrize(
    ("seconds", "ms", "x_ms", "wait"),
    [
        ("30", "2500", "9000", 30),
        ("30", "", "9000", 30),
        ("30", "-5", "", 30),
        ("30", "250", "", 30),
        ("1", "2500", "9000", 9),
        ("1", "2500", "", 3),  # 2.5 s, rounded up
        ("soon", "250", "nan", 1),
    ],
)
def test_of_several_headers_the_longest_valid_one_holds(seconds: str, ms: str, x_ms: str, wait: float) -> None:
    """Case RA-08, as B7 decides it."""
    found = facts(("Retry-After", seconds), ("retry-after-ms", ms), ("X-MS-Retry-After-Ms", x_ms))
    assert found.retry_after_s == wait


def test_several_fields_of_one_name_count_each() -> None:
    assert facts(("Retry-After", "10"), ("retry-after", "40"), ("RETRY-AFTER", "x")).retry_after_s == 40


def test_without_the_header_there_is_no_wait_at_all() -> None:
    """Case RA-09: a missing header is not the number 0."""
    assert facts(DATE).retry_after_s is None


@pytest.mark.rule("B7", "B2")
def test_a_date_is_measured_against_the_answer_s_own_clock() -> None:
    """Their clock is 10 minutes ahead of ours: 12:10 + 60 s is 60 s, not 11 minutes."""
    found = facts(("Date", "Sun, 29 Nov 2026 12:10:00 GMT"), ("Retry-After", "Sun, 29 Nov 2026 12:11:00 GMT"))
    assert found.retry_after_s == 60
    assert found.clock_skew_ms == 10 * 60 * 1_000


def test_without_their_clock_a_date_is_measured_against_ours() -> None:
    ours = NOON + timedelta(milliseconds=500)
    assert facts(("Retry-After", "Sun, 29 Nov 2026 12:00:02 GMT"), at=ours).retry_after_s == 2  # 1.5 s, rounded up
    assert facts(("Date", "yesterday"), ("Retry-After", "Sun, 29 Nov 2026 12:00:02 GMT"), at=ours).clock_skew_ms is None


def test_a_two_digit_year_more_than_50_years_ahead_is_of_the_century_before() -> None:
    assert facts(DATE, ("Retry-After", "Sunday, 29-Nov-77 12:01:30 GMT")).retry_after_s == 0  # 1977
    assert facts(DATE, ("Retry-After", "Sunday, 29-Nov-76 12:01:30 GMT")).retry_after_s == TEN_YEARS  # 2076


@pytest.mark.rule("B7", "B18")
@given(
    st.one_of(st.text(max_size=60), st.from_regex(r"[-+0-9., eEnaifGMT:]{0,40}"), st.integers().map(str), st.floats().map(str))
)
def test_no_text_raises_and_every_wait_is_finite_and_not_negative(value: str) -> None:
    for name in ("Retry-After", "retry-after-ms", "x-ms-retry-after-ms"):
        found = facts(DATE, (name, value))
        if found.retry_after_s is None:
            assert len(found.rejected) == 1
            assert found.rejected[0].why
        else:
            assert math.isfinite(found.retry_after_s)
            assert 0 <= found.retry_after_s <= LONGEST_WAIT_S
            assert found.retry_after_s == math.ceil(found.retry_after_s)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_date_gives_its_distance_or_now(until: datetime) -> None:
    until = until.replace(microsecond=0)
    shown = f"{until:%a}, {until.day:02} {until:%b} {until.year:04} {until:%H:%M:%S} GMT"
    away = (until - NOON).total_seconds()
    assert facts(DATE, ("Retry-After", shown)).retry_after_s == min(max(0, away), TEN_YEARS)


@pytest.mark.rule("B19")
@pytest.mark.parametrize(
    ("value", "age"), [("0", 0), ("86400", 86_400), ("-1", None), ("²", None), ("x", None), ("9" * 5_000, 1e12)]
)
def test_an_answer_says_how_old_it_is(value: str, age: float | None) -> None:
    found = facts(("Age", value)).age_s
    assert found == age or (age == 1e12 and found is not None and found >= 1e11)


@pytest.mark.rule("B9")
@pytest.mark.parametrize(
    ("headers", "rate"),
    [
        ([("RateLimit", '"default";r=50;t=30'), ("RateLimit-Policy", '"default";q=100;w=60')], (100, 50, 30)),
        ([("RateLimit", "limit=100, remaining=50, reset=30")], (100, 50, 30)),
        ([("RateLimit", '"hour";r=900;t=600, "minute";r=2;t=30')], (None, 2, 30)),
        ([("RateLimit-Limit", "100, 100;w=60"), ("RateLimit-Remaining", "0"), ("RateLimit-Reset", "7")], (100, 0, 7)),
        (
            [("X-RateLimit-Limit", "5000"), ("X-RateLimit-Remaining", "4999"), ("X-RateLimit-Reset", "1795953720")],
            (5_000, 4_999, 120),
        ),
        ([("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "1795953720000")], (None, 3, 120)),  # milliseconds
        ([("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "2026-11-29T12:02:00Z")], (None, 3, 120)),
        ([("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "1795950000")], (None, 3, 0)),  # past
        ([("X-Rate-Limit-Limit", "10"), ("X-Rate-Limit-Remaining", "1"), ("X-Rate-Limit-Reset", "0.5")], (10, 1, 0.5)),
        ([("X-RateLimit-Remaining", "3"), ("X-RateLimit-Reset", "soon")], (None, 3, None)),
        ([("X-RateLimit-Remaining", "-1")], None),
        ([("X-RateLimit-Remaining", "many")], None),
        ([("X-RateLimit-Limit", "100")], None),
        ([("RateLimit", '"default";r=9999999999999999999;t=1')], None),
        ([], None),
    ],
)
def test_rate_limit_headers_tell_the_account_s_quota(
    headers: list[tuple[str, str]], rate: tuple[int | None, int, float | None] | None
) -> None:
    """1795953720 is NOON + 120 s."""
    expected = None if rate is None else RateLimit(limit=rate[0], remaining=rate[1], reset_seconds=rate[2])
    assert facts(*headers).rate == expected


@given(
    st.sampled_from(["RateLimit", "RateLimit-Policy", "X-RateLimit-Reset", "X-RateLimit-Limit", "Age", "Date"]),
    st.text(max_size=40),
)
def test_no_header_text_raises(name: str, value: str) -> None:
    found = facts(("X-RateLimit-Remaining", "3"), (name, value))
    assert found.rate is not None
    assert found.rate.reset_seconds is None or 0 <= found.rate.reset_seconds <= TEN_YEARS
