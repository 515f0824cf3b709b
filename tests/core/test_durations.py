"""Durations: what is one, and that what we print reads back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.core.durations import duration_text, left_text, parse_duration, passed_text
from jobconsole.errors import InvalidValue


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("45s", 45),
        ("1h30m", 3_600 + 30 * 60),
        ("2.5s", 2.5),
        ("250ms", 0.25),
        ("30d", 30 * 86_400),
        ("1d2h3m4s5ms", 86_400 + 2 * 3_600 + 3 * 60 + 4 + 0.005),
        ("0.001ms", 0.000001),
    ],
)
def test_digits_and_units_add_up(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.rule("B18")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "5",
            "s",
            "-5s",
            "+5s",
            " 5s",
            "5s ",
            "5 s",
            "1e3s",
            "nan",
            "infs",
            "0s",
            "0h0m",
            "1h1h",
            "²s",
            "1.s",
            ".5s",
            "5S",
        ),
        *("\uff15s", "99999999d", "9" * 5_000 + "s", "5s\n", "0.0001ms"),
    ],
)
def test_all_else_is_refused_with_a_mend(text: str) -> None:
    with pytest.raises(InvalidValue, match=r"1h30m|century"):
        parse_duration(text)


@pytest.mark.rule("B18")
@given(st.text(max_size=30))
def test_no_text_gives_anything_but_a_positive_finite_duration(text: str) -> None:
    try:
        duration = parse_duration(text)
    except InvalidValue:
        return
    assert timedelta(0) < duration <= timedelta(days=36_500)


@given(st.integers(min_value=1, max_value=10_000_000))
def test_printed_durations_read_back_to_the_second(seconds: int) -> None:
    assert parse_duration(duration_text(timedelta(seconds=seconds))) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (2.5, "2.5s"),
        (45, "45s"),
        (90.9, "1m30s"),
        (5_400, "1h30m"),
        (86_400, "1d"),
        (-90, "-1m30s"),
    ],
)
def test_people_read_durations_in_units(seconds: float, text: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("seconds", "passed", "left"),
    [
        (9.1, "9s", "10s"),
        (9.9, "9s", "10s"),
        (10, "10s", "10s"),
        (0.25, "0s", "1s"),
        (59.5, "59s", "1m"),
        (3_599.999, "59m59s", "1h"),
        (0, "0s", "0s"),
        (-3, "0s", "0s"),
    ],
)
def test_what_has_passed_counts_whole_seconds_and_what_is_left_the_one_that_has_begun(
    seconds: float, passed: str, left: str
) -> None:
    duration = timedelta(seconds=seconds)
    assert (passed_text(duration), left_text(duration)) == (passed, left)
