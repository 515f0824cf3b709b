"""The top line and the status bar: what is the matter, in few words, at any width."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot

from jobconsole.play.job import Reply
from jobconsole.tui.clock_face import TimeStyle
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of


@asynccontextmanager
async def at_work(app: TestedDashboard, size: tuple[int, int] = (100, 24)) -> AsyncIterator[Pilot[None]]:
    """The app on a screen of this size, while a worker is alive."""
    async with app.desk.store.announce(app.desk.worker_info), running(app, size) as pilot:
        await settled(pilot)
        await pass_time(pilot, 0)
        yield pilot


def header(pilot: Pilot[None]) -> str:
    """The top line."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    return text_of(app)[0]


def status(pilot: Pilot[None]) -> str:
    """The line above the footer."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    return text_of(app)[-2]


@pytest.mark.rule("B11")
async def test_the_header_counts_the_providers_that_are_well(dashboard: TestedDashboard) -> None:
    """One that answers is well; its refused credential is told with the time, and the sign changes too."""
    await dashboard.track("acme-1")
    await dashboard.track("acme-2")
    await dashboard.check("acme-1")
    async with at_work(dashboard) as pilot:
        assert "● 1/1 providers" in header(pilot)
        dashboard.answers["job-acme-2"] = Reply(401)
        await dashboard.desk.perform("acme-2")
        await settled(pilot)
        assert "○ 0/1 providers" in header(pilot)
        assert "acme: credential refused since 10:00:00 UTC" in status(pilot)


async def test_the_status_bar_says_how_long_ago_a_provider_answered(dashboard: TestedDashboard) -> None:
    """It grows by the second, and a silent provider is named."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1")
    async with at_work(dashboard) as pilot:
        await pass_time(pilot, 3)
        assert "last answer 3s ago" in status(pilot)
        dashboard.clock.advance(40)
        dashboard.answers["job-acme-1"] = Reply(502)
        await dashboard.desk.perform("acme-1")
        await settled(pilot)
        assert "acme: no answer since 10:00:00 UTC" in status(pilot)


@pytest.mark.parametrize(
    ("columns", "there", "missing"),
    [
        (120, ("jobconsole", " Log ", "test", "● 1/1 providers", "10:00:00 UTC"), ()),
        (84, (" Log ", "test", "● 1/1 providers", "10:00:00 UTC"), ("jobconsole",)),
        (74, (" Log ", "test", "● 1/1", "10:00 UTC"), ("providers",)),
        (60, (" Operations 1 ", " Inbox ", "test", "● 1/1", "10:00 UTC"), (" Log ",)),
        (36, (" Operations 1 ", "10:00 UTC"), ("test",)),
    ],
)
async def test_what_goes_first_where_the_line_is_short(
    dashboard: TestedDashboard, columns: int, there: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    """The name, then words on the right, then tabs; the clock with its zone stays."""
    await dashboard.track("acme-1")
    async with at_work(dashboard, (columns, 24)) as pilot:
        line = header(pilot)
        assert len(line) == columns
        assert [text for text in there if text not in line] == []
        assert [text for text in missing if text in line] == []


async def test_the_clock_follows_the_way_times_are_shown(dashboard: TestedDashboard) -> None:
    """Ages are measured, so that the clock beside them is UTC."""
    async with running(dashboard) as pilot:
        assert "10:00:00 UTC" in header(pilot)
        dashboard.time_style = TimeStyle.LOCAL
        await pilot.pause()
        assert f"{datetime(2026, 11, 29, 10, tzinfo=UTC).astimezone():%H:%M:%S}" in header(pilot)
