"""Providers and log: contracts as the core shows them, accounts with what they spent, a bounded log that is inert."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.core.deciding.account import Account, Denied
from jobconsole.play.job import Reply
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.log_ring import LINES, LogRing, cut
from jobconsole.tui.provider_sections import account_line, account_text
from jobconsole.tui.screens.log import LogScreen
from jobconsole.tui.screens.providers import ProvidersScreen
from tests.core.sample_contract import sample
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, until

NOW = datetime(2026, 11, 29, 14, 10, tzinfo=UTC)
PEN = Pen(80, NOW)
HOUR_AT = NOW.replace(minute=0)


async def open_providers(pilot: Pilot[None]) -> ProvidersScreen:
    """Go to the providers and wait for the contracts."""
    await settled(pilot)
    await pilot.press("P")
    await until(pilot, lambda: isinstance(pilot.app.screen, ProvidersScreen))
    screen = pilot.app.screen
    assert isinstance(screen, ProvidersScreen)
    await until(pilot, lambda: "contract:acme" in [entry.key for entry in screen.list.entries])
    return screen


def told(screen: ProvidersScreen) -> str:
    """The text beside the list."""
    return str(screen.query_one("#providers-text", Static).content)


async def test_a_contract_shows_its_state_table_and_its_bounds(dashboard: TestedDashboard) -> None:
    """Each class with its documented values."""
    async with running(dashboard, (140, 60)) as pilot:
        screen = await open_providers(pilot)
        screen.list.cursor = "contract:acme"
        await pilot.pause()
        text = told(screen)
        assert "waiting      queued, running" in text
        assert "partial      done_with_errors" in text
        assert "status_requests  12" in text
        assert "POST /v1/jobs/{job_id}/cancel" in text


@pytest.mark.rule("B9")
async def test_an_account_shows_what_was_spent_by_which_operation(dashboard: TestedDashboard) -> None:
    """Three checks of one, one of another."""
    for name, title, checks in (("acme-1", "ledger", 3), ("acme-2", "Q3 report", 1)):
        await dashboard.track(name, title=title)
        for _ in range(checks):
            dashboard.clock.advance(60)
            await dashboard.check(name)
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        screen.list.cursor = next(entry.key for entry in screen.list.entries if entry.key.startswith("account:"))
        await pilot.pause()
        assert "4 this hour" in told(screen)
        assert "      3  ledger     acme-1\n      1  Q3 report  acme-2" in told(screen)


@pytest.mark.rule("B11")
async def test_a_refused_account_says_who_carries_the_question(dashboard: TestedDashboard) -> None:
    """Enter leads to that operation."""
    await dashboard.track("acme-1")
    dashboard.answers["job-acme-1"] = Reply(401)
    await dashboard.desk.perform("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        screen.list.cursor = next(entry.key for entry in screen.list.entries if entry.key.startswith("account:"))
        await pilot.pause()
        assert "its credential was refused (401)" in told(screen)
        assert "acme-1 carries the question" in told(screen)
        assert [subject.operation_id for subject in screen.subjects(for_many=False)] == ["acme-1"]


@pytest.mark.rule("B9")
def test_spending_is_a_bar_and_the_cores_words() -> None:
    """1,500 of 6,000 in 10 minutes: a quarter of 24 cells is used, and it is empty at 14:40."""
    busy = Account(account_key="a@h", account="a", hour_at=HOUR_AT, spent_this_hour=1_500, spent=1_500)
    told = account_text(busy, sample(limits="per_minute = 100"), (), PEN).plain
    assert f"{'▰' * 6}{'▱' * 18}  1,500 of 6,000 this hour; at this rate empty 14:40 UTC\n" in told


@pytest.mark.rule("B9")
@pytest.mark.parametrize(("spent", "lasts"), [(0, False), (900, True), (1_500, False)])
def test_an_account_that_is_not_empty_in_its_hour_says_so(spent: int, lasts: bool) -> None:
    """900 in 10 minutes are 5,400 an hour, of 6,000; 1,500 are 9,000."""
    account = Account(account_key="a@h", account="a", hour_at=HOUR_AT, spent_this_hour=spent, spent=spent)
    told = account_text(account, sample(limits="per_minute = 100"), (), PEN).plain
    assert ("empty     not before this hour ends, at this rate" in told) is lasts


@pytest.mark.rule("B9", "B11")
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "a  0 this hour"),
        ({"hold_until_at": NOW + timedelta(seconds=30)}, "a  held until 14:10:30 UTC, 0 this hour"),
        ({"denied": Denied(since=NOW, http_status=403)}, "a  credential refused since 14:10:00 UTC, 0 this hour"),
    ],
)
def test_an_accounts_line_says_what_holds_it_in_words(fields: dict[str, object], said: str) -> None:
    """Not by colour alone."""
    account = Account(account_key="a@h", account="a", **fields)  # type: ignore[arg-type]
    assert account_line(account, None, 1, PEN).plain == f" {said}"


async def test_the_stores_health_is_told(dashboard: TestedDashboard) -> None:
    """Writable, and nobody works."""
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        screen.list.cursor = "store"
        await pilot.pause()
        assert "can be written" in told(screen)
        assert "none: nothing is checked until one is: jobconsole run" in told(screen)


def row(screen: ProvidersScreen, key: str) -> str:
    """The row of an entry."""
    return next(entry.rows[-1].plain for entry in screen.list.entries if entry.key == key)


async def test_what_is_in_use_stands_apart_with_its_jobs_and_how_it_does(dashboard: TestedDashboard) -> None:
    """Above thirty contracts that nobody uses; a silent provider says so."""
    await dashboard.track("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        keys = [entry.key for entry in screen.list.entries]
        assert keys[:4] == ["heading-STORE", "store", "heading-PROVIDERS IN USE", "contract:acme"]
        assert keys[4] == "heading-OTHER CONTRACTS"
        assert row(screen, "contract:acme").split() == ["acme", "ACME", "jobs", "1", "job"]
        dashboard.answers["job-acme-1"] = Reply(502)
        await dashboard.desk.perform("acme-1")
        await until(pilot, lambda: row(screen, "contract:acme").startswith(" acme  no answer since 10:00:00 UTC"))


async def test_the_list_has_the_keys_again_after_the_text_was_read(dashboard: TestedDashboard) -> None:
    """Enter goes into the text, whose edge says so; escape comes back, and so does who leaves and returns."""
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        text = screen.query_one("#providers-detail")
        edge = text.styles.border_left
        for keys in (("enter", "escape"), ("enter", "O", "P")):
            await pilot.press("g", keys[0])
            await until(pilot, lambda: text.has_focus)
            assert text.styles.border_left != edge
            await pilot.press(*keys[1:])
            await until(pilot, lambda: dashboard.screen is screen and screen.list.has_focus)
            await pilot.press("j")
            await until(pilot, lambda: screen.list.place == 1)
            assert text.styles.border_left == edge


async def test_rows_are_laid_out_anew_for_another_width(dashboard: TestedDashboard) -> None:
    """The number of jobs stands at the right edge at once."""
    await dashboard.track("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        for columns in (200, 90):
            await pilot.resize_terminal(columns, 40)
            await pilot.pause()
            assert len(row(screen, "contract:acme")) == screen.list.columns - 2


async def test_a_filter_by_words_is_the_same_for_providers_and_log(dashboard: TestedDashboard) -> None:
    """Each word must occur, `!word` must not."""
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_providers(pilot)
        screen.filter_by("aws !batch")
        await pilot.pause()
        assert [key for entry in screen.list.entries if (key := entry.key).startswith("contract:")] == [
            "contract:aws-athena",
            "contract:aws-textract",
        ]


# ---- the log -----------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("U3")
@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("plain", "plain"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("x" * 4_096, "x" * 4_096),
        ("x" * 92_160, "x" * 4_096 + " … +86 KB"),  # (92,160 - 4,096) / 1,024 = 86
    ],
    ids=["plain", "escape", "4 KB", "90 KB"],
)
def test_a_line_of_the_log_is_inert_and_cut(line: str, kept: str) -> None:
    """And what was left out is counted."""
    assert cut(line) == kept


def test_the_ring_keeps_the_last_two_thousand_lines() -> None:
    """However many come."""
    ring = LogRing()
    for number in range(LINES + 500):
        ring.handle(logging.LogRecord("jobconsole", logging.INFO, __file__, 1, "line %d", (number,), None))
    assert len(ring.lines) == LINES
    assert ring.lines[-1].text == f"line {LINES + 499}"


async def test_the_log_follows_until_somebody_looks_at_an_older_line(dashboard: TestedDashboard) -> None:
    """A line that is looked at stands still; `G` follows again."""
    async with running(dashboard) as pilot:
        log = logging.getLogger("jobconsole.engine")
        for number in range(50):
            log.warning("line %d", number)
        await pilot.press("L")
        await until(pilot, lambda: isinstance(dashboard.screen, LogScreen) and bool(dashboard.screen.list.entries))
        screen = dashboard.screen
        assert isinstance(screen, LogScreen)
        assert screen.list.cursor == "50"
        log.warning("line 50")
        await pass_time(pilot, 1)
        await until(pilot, lambda: screen.list.cursor == "51")
        await pilot.press("k", "k")
        log.warning("line 51")
        await pass_time(pilot, 1)
        assert screen.list.cursor == "49"
        await pilot.press("f")
        await until(pilot, lambda: screen.list.cursor == "52")


@pytest.mark.rule("U6")
async def test_an_empty_log_says_where_to_look(dashboard: TestedDashboard) -> None:
    """No blank pane."""
    async with running(dashboard) as pilot:
        await pilot.press("L")
        await until(pilot, lambda: isinstance(dashboard.screen, LogScreen))
        screen = dashboard.screen
        assert isinstance(screen, LogScreen)
        assert "jobconsole has logged nothing" in screen.list.render_line(0).text
