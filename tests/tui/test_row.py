"""The cells of a row: budgets whose figures are never cut and never look spent before they are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from jobconsole.console import load_themes
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.row import Piece, RowContext, checks_cell, time_cell
from jobconsole.tui.themes import Look
from tests.core.telling.test_filter import NOW, made


def context(tmp_path: Path) -> RowContext:
    """Drawn in the dark theme, at `NOW`."""
    return RowContext(NOW, TimeStyle.AGE, Look(load_themes(tmp_path).themes["jobconsole-dark"]), {})


def told(pieces: list[Piece]) -> str:
    """What stands in the cell."""
    return "".join(text for text, _ in pieces)


@pytest.mark.rule("B1")
@pytest.mark.parametrize(
    ("used", "allowed", "cell"),
    [
        (1, 12, "▰▱▱▱ 1/12"),
        (236, 1_000, "▰ 236/1000"),  # of ten columns eight are figures
        (999, 1_000, "▰ 999/1000"),
        (1_000, 1_000, "1000/1000"),  # nine: no room for a bar and its blank
        (5, 1_000_000, "▰▱▱▱ 5/1M"),
        (9_999, 10_000, "▰ 9999/10k"),
        (999_999, 1_000_000, "999999/1M"),
        (10_499, 10_500, "10k/10.5k"),  # 10499/10.5k has eleven
        (1_234, 123_456, "1234/123k"),  # so has 1234/123.4k
        (123_399, 123_456, "▰▱ 57 left"),  # both are 123k
        (123_456, 123_456, "123k/123k"),
        (12_345_678, 50_000_000, "12.3M/50M"),
    ],
)
def test_the_figures_of_checks_are_whole_before_the_bar_is(tmp_path: Path, used: int, allowed: int, cell: str) -> None:
    """At most ten columns."""
    assert told(checks_cell(made(status_requests_used=used, max_status_requests=allowed), context(tmp_path))) == cell
    assert len(cell) <= 10


@pytest.mark.rule("B1")
@pytest.mark.parametrize(
    ("used_s", "allowed_s", "cell"),
    [
        (12 * 60, 20 * 60, "▰▰▰▱▱▱ 12/20m"),
        (37, 20 * 60, "▰▱▱▱▱▱ 37s/20m"),
        (171, 232, "▰▰▱▱ 2:51/3:52"),
        (3_660, 6_720, "▰▰▰▱▱▱ 61/112m"),  # 1 h 52 min
        (5_400, 7_200, "▰▰▰▰▱▱ 1/2h"),
        (48 * 3_600, 58 * 3_600, "▰▰▰▰▱▱ 48/58h"),
        (48 * 3_600, 72 * 3_600, "▰▰▰▰▱▱ 2/3d"),
        (20, 45, "▰▰▱▱▱▱ 20/45s"),
        (-86_400, 90, "▱▱▱▱ 0:00/1:30"),  # the clock was set back by a day
        (-86_400, 1_200, "▱▱▱▱▱▱ 0s/20m"),
    ],
)
def test_time_is_told_in_a_unit_in_which_the_limit_is_whole(tmp_path: Path, used_s: int, allowed_s: int, cell: str) -> None:
    """At most fourteen columns; 3:10 of 3:52 never reads as 3/3m."""
    started_at = NOW - timedelta(seconds=used_s)
    op = made(started_at=started_at, deadline_at=started_at + timedelta(seconds=allowed_s))
    assert told(time_cell(op, context(tmp_path))) == cell
    assert len(cell) <= 14
