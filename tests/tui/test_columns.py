"""Which columns have room: at every width the line fits, and what matters most is there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from jobconsole.tui.clock_face import TimeStyle, age_text, clock, full_text, short_age_text, since_text, until_text
from jobconsole.tui.columns import fit_columns
from jobconsole.tui.widgets.bars import budget_bar, progress_bar, sparkline

NOW = datetime(2026, 11, 29, 14, 2, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    ("width", "keys"),
    [
        (36, ["state", "id", "age"]),
        (59, ["state", "id", "name", "age"]),
        (80, ["state", "id", "name", "age", "time", "checks", "next"]),
        (111, ["state", "id", "name", "age", "time", "checks", "next", "http", "progress", "last"]),
    ],
)
def test_the_width_decides_which_columns_are_there(width: int, keys: list[str]) -> None:
    """Below 60 only state, id and age, and the name where it has room; each step wider brings the next in rank."""
    assert [place.column.key for place in fit_columns(width)] == keys


def test_a_wider_table_never_loses_a_column() -> None:
    """What stands at 100 columns stands at 120 as well; and where a pane leaves 150 columns, names have more than at 80."""
    shown: set[str] = set()
    for width in range(36, 300):
        wider = {place.column.key for place in fit_columns(width)}
        assert shown <= wider, width
        shown = wider
    assert "http" in {place.column.key for place in fit_columns(120)}
    assert next(place.width for place in fit_columns(140) if place.column.key == "name") > 14


@pytest.mark.parametrize("style", list(TimeStyle))
def test_columns_never_overlap_and_never_pass_the_edge(style: TimeStyle) -> None:
    """From the narrowest screen on, with a blank between two, and clocks get the room they need."""
    for width in range(36, 300):
        places = fit_columns(width, style)
        assert all(left.end < right.start for left, right in pairwise(places))
        assert places[-1].end < width  # the last column of the screen is the scrollbar's
        assert all(place.width >= place.column.needs(style) for place in places)


@pytest.mark.parametrize(
    ("seconds", "age", "short"),
    [
        (0, "0s", "0s"),
        (59.9, "59s", "59s"),
        (60, "1m", "1m"),
        (3_599, "59m", "59m"),
        (3_900, "1h05m", "1h"),
        (86_399, "23h59m", "23h"),
        (86_400 * 2 + 3_600 * 3, "2d03h", "2d"),
        (86_400 * 41, "41d", "41d"),
        (-5, "0s", "0s"),
    ],
)
def test_an_age_has_one_or_two_units(seconds: float, age: str, short: str) -> None:
    """Seconds, minutes, hours with minutes, days with hours."""
    assert age_text(timedelta(seconds=seconds)) == age
    assert short_age_text(timedelta(seconds=seconds)) == short


def test_a_time_is_shown_as_age_or_as_clock_and_the_zone_is_named() -> None:
    """8 s ahead of 14:02:11 UTC; and yesterday carries its date."""
    soon, yesterday = NOW + timedelta(seconds=8), NOW - timedelta(days=1)
    assert until_text(soon, NOW, TimeStyle.AGE) == "in 8s"
    assert until_text(NOW, NOW, TimeStyle.AGE) == "now"
    assert until_text(soon, NOW, TimeStyle.UTC) == "14:02:19"
    assert since_text(NOW - timedelta(minutes=12), NOW, TimeStyle.AGE) == "12m"
    assert clock(yesterday, NOW, TimeStyle.UTC) == "11-28 14:02"
    assert full_text(soon, NOW, TimeStyle.UTC) == "14:02:19 UTC (in 8s)"
    long_ago = datetime(2018, 9, 13, 12, 26, tzinfo=UTC)
    assert full_text(long_ago, NOW, TimeStyle.UTC) == "2018-09-13 12:26 UTC (2999d ago)"
    assert clock(datetime(1, 1, 1, tzinfo=UTC), NOW, TimeStyle.UTC) == "0001-01-01 00:00"
    assert (
        since_text(long_ago, NOW, TimeStyle.UTC) == until_text(long_ago, NOW, TimeStyle.UTC) == "2018-09-13"
    )  # a cell has eleven
    begun = NOW + timedelta(seconds=7.1)  # 8 s, as the countdown says: the second that has begun is still left
    assert (until_text(begun, NOW, TimeStyle.AGE), full_text(begun, NOW, TimeStyle.UTC)) == ("in 8s", "14:02:18 UTC (in 8s)")
    assert [TimeStyle.AGE.next, TimeStyle.LOCAL.next, TimeStyle.UTC.next] == [TimeStyle.LOCAL, TimeStyle.UTC, TimeStyle.AGE]


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0.0, "▱▱▱▱"), (0.01, "▰▱▱▱"), (0.49, "▰▱▱▱"), (0.5, "▰▰▱▱"), (0.99, "▰▰▰▱"), (1.0, "▰▰▰▰"), (7.0, "▰▰▰▰")],
)
def test_a_budget_shows_what_is_used_and_is_full_only_at_the_end(share: float, bar: str) -> None:
    """Of four cells."""
    assert "".join(budget_bar(share, 4, is_ascii=False)) == bar
    assert "".join(budget_bar(share, 4, is_ascii=True)) == bar.replace("▰", "#").replace("▱", ".")


@pytest.mark.parametrize(("share", "bar"), [(0.0, ""), (0.1, ""), (0.13, "╸"), (0.5, "━━"), (0.63, "━━╸"), (1.0, "━━━━")])
def test_progress_grows_by_half_columns(share: float, bar: str) -> None:
    """Of four columns; it never looks like a budget."""
    assert progress_bar(share, 4, is_ascii=False) == bar


@pytest.mark.parametrize(
    ("values", "blocks", "ascii_blocks"),
    [
        ((), "", ""),
        ((0.18, 0.18), "██", "@@"),
        ((0.0, 0.0), "▁▁", "__"),
        ((0.1, 0.2, 0.7, 0.35), "▂▃█▅", ".-@+"),  # of seven steps: 1, 2, 7 and 3.5, rounded to even
        ((9.0, 9.0, 0.1, 0.2, 0.7, 0.35), "▂▃█▅", ".-@+"),  # the last four where no more have room
    ],
)
def test_a_line_of_figures_is_as_high_as_its_highest(values: tuple[float, ...], blocks: str, ascii_blocks: str) -> None:
    """One column a figure, in four columns; plain ASCII where the theme asks for it."""
    assert sparkline(values, 4, is_ascii=False) == blocks
    assert sparkline(values, 4, is_ascii=True) == ascii_blocks
