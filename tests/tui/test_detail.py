"""The detail of an operation: budgets apart from progress, why, attempts, story, requests, result and error, live."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.console import Budget
from jobconsole.play.job import Reply
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.widgets.detail_pane import DetailPane
from jobconsole.tui.widgets.line_list import LineList
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until


async def open_detail(pilot: Pilot[None]) -> DetailScreen:
    """Open the operation under the cursor and wait until its audit is read."""
    await settled(pilot)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(pilot.app.screen, DetailScreen))
    screen = pilot.app.screen
    assert isinstance(screen, DetailScreen)
    await until(pilot, lambda: bool(screen.query_one("#list-story", LineList).entries))
    return screen


def part(screen: DetailScreen, name: str) -> str:
    """The text of one part of the pane."""
    return str(screen.query_one(f"#detail-{name}", Static).content)


def rows(screen: DetailScreen, name: str) -> list[str]:
    """The rows of one list."""
    return [entry.rows[0].plain for entry in screen.query_one(f"#list-{name}", LineList).entries]


@pytest.mark.rule("U2", "H9")
async def test_budgets_stand_apart_from_progress_each_with_its_figures(dashboard: TestedDashboard) -> None:
    """10 of 40 minutes, 1 of 12 checks, 41 % of the job."""
    await dashboard.track("acme-1")
    dashboard.clock.advance(600)
    await dashboard.check("acme-1", {"state": "running", "progress": 41})
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        told = part(screen, "budgets")
        assert "10m of 40m" in told
        assert "1 of 12" in told
        assert "41%" in told
        assert "▰" in told
        assert "━" in told


@pytest.mark.rule("H9")
async def test_what_people_granted_stands_apart_from_the_time_they_took(dashboard: TestedDashboard) -> None:
    """Asked at 40 min, answered at 50: the deadline is 25 minutes later, of which 15 were granted."""
    await dashboard.track("acme-1")
    dashboard.clock.advance(2_400)
    await dashboard.desk.perform("acme-1")
    dashboard.clock.advance(600)
    await dashboard.desk.decide("acme-1", "extend", by="person:ben")
    async with running(dashboard, (140, 40)) as pilot:
        told = part(await open_detail(pilot), "budgets")
        assert "50m of 1h05m" in told
        assert "people granted 15 min and 4 checks, 1×" in told
        assert "and the deadline moved by what it waited 10m for a person" in " ".join(told.split())


async def test_a_long_line_of_the_budgets_goes_on_below_its_text(dashboard: TestedDashboard) -> None:
    """67 columns on a screen of 60: what goes on stands behind the labels."""
    await dashboard.track("acme-1")
    dashboard.clock.advance(2_400)
    await dashboard.desk.perform("acme-1")
    dashboard.clock.advance(600)
    await dashboard.desk.decide("acme-1", "extend", by="person:ben")
    async with running(dashboard, (60, 40)) as pilot:
        lines = part(await open_detail(pilot), "budgets").splitlines()
        begun = next(number for number, line in enumerate(lines) if "and the deadline moved by what" in line)
        assert lines[begun + 1].startswith(" " * 10)
        assert lines[begun + 1].split()[-2:] == ["a", "person"]


@pytest.mark.rule("U6")
async def test_without_progress_only_the_budget_is_shown_and_that_is_said(dashboard: TestedDashboard) -> None:
    """No invented bar."""
    await dashboard.track("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert "not reported; only the budget is shown" in part(screen, "budgets")


@pytest.mark.rule("L2", "U7")
async def test_story_attempts_and_why_are_the_cores(dashboard: TestedDashboard) -> None:
    """A good look, a lost one, a failure: ●─○─✕, and the same sentences as everywhere."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1", {"state": "queued"})
    dashboard.clock.advance(60)
    await dashboard.check("acme-1", {"state": "failed", "error": "disk full"})
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert part(screen, "timeline").splitlines()[0] == "●─✕"
        assert part(screen, "why") == await dashboard.desk.why("acme-1")
        assert rows(screen, "story")[-1].startswith("10:01:00  polled, state failed")
        assert "check 2" in rows(screen, "requests")[-1]
        assert "disk full" in part(screen, "ending")


async def test_latencies_stand_below_the_attempts_with_their_median(dashboard: TestedDashboard) -> None:
    """0.1 s, 0.7 s and 0.4 s: the middle one is the p50. One answer alone shows nothing."""
    await dashboard.track("acme-1")
    await slow_check(dashboard, 0.1)
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert part(screen, "timeline") == "●"
        await slow_check(dashboard, 0.7)
        await slow_check(dashboard, 0.4)
        await until(pilot, lambda: part(screen, "timeline") == "●─●─●\nanswers in  ▂█▅  p50 400 ms")


async def slow_check(dashboard: TestedDashboard, seconds: float) -> None:
    """One check that takes so long."""
    dashboard.clock.advance(60)
    dashboard.answers_after = seconds
    await dashboard.check("acme-1")


@pytest.mark.rule("B9")
async def test_the_account_stands_below_the_budgets_in_the_cores_words(dashboard: TestedDashboard) -> None:
    """What all front ends say of it, and what holds it back."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert part(screen, "budgets").splitlines()[-1] == "account   acme-prod  1 this hour"
        dashboard.clock.advance(60)
        dashboard.answers["job-acme-1"] = Reply(429, retry_after_s=120)
        await dashboard.desk.perform("acme-1")
        held = "account   acme-prod  held until 10:03:00 UTC, 2 this hour"
        await until(pilot, lambda: part(screen, "budgets").splitlines()[-1] == held)


@pytest.mark.parametrize("columns", [80, 120, 200])
async def test_no_line_of_the_story_is_cut_off(dashboard: TestedDashboard, columns: int) -> None:
    """It goes on below itself."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1", {"state": "running"})
    async with running(dashboard, (columns, 40)) as pilot:
        await open_detail(pilot)
        shown = " ".join(" ".join(text_of(dashboard)).split())
        assert "…" not in shown.partition("Story")[2]


@pytest.mark.rule("U1")
async def test_what_another_process_does_appears_in_the_open_detail(dashboard: TestedDashboard) -> None:
    """A check and a decision made elsewhere are told without a key."""
    await dashboard.track("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        await dashboard.desk.decide("acme-1", "extend", by="person:ben", reason="tax filing is due")
        await until(pilot, lambda: any("ben chose extend" in row for row in rows(screen, "story")))
        assert screen.subjects(for_many=False)[0].revision == 2


async def test_elapsed_times_tick_without_a_change(dashboard: TestedDashboard) -> None:
    """One minute later it says so; the store was not touched."""
    await dashboard.track("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert "0s of 40m" in part(screen, "budgets")
        await pass_time(pilot, 60)
        assert "1m of 40m" in part(screen, "budgets")


@pytest.mark.rule("U7")
async def test_w_explains_the_second_of_the_line_under_the_cursor(dashboard: TestedDashboard) -> None:
    """The second of the check, not the present one."""
    await dashboard.track("acme-1")
    dashboard.clock.advance(30)
    await dashboard.check("acme-1")
    dashboard.clock.advance(300)
    async with running(dashboard, (140, 40)) as pilot:
        await open_detail(pilot)
        await pilot.press("w")
        await until(pilot, lambda: any("Checked at 10:00:30 because" in line for line in text_of(dashboard)))


async def test_escape_goes_back_to_where_it_was_opened(dashboard: TestedDashboard) -> None:
    """The cursor still stands on the operation."""
    await dashboard.track("acme-1")
    async with running(dashboard) as pilot:
        await open_detail(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(dashboard.screen, DetailScreen))


@pytest.mark.rule("X6", "H2")
async def test_an_escalated_operation_shows_its_question_and_its_options(dashboard: TestedDashboard) -> None:
    """Why, what may be chosen, and what it would cost."""
    await dashboard.track("acme-1", budget=Budget(status_requests=1))
    await dashboard.check("acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_detail(pilot)
        assert "Every status request that was allowed is used" in part(screen, "question")
        assert "checks 1 → 5" in part(screen, "options").replace("\n  ", " ")


async def test_an_operation_that_is_gone_says_so(dashboard: TestedDashboard) -> None:
    """The pane tells the core's sentence in place of facts."""
    async with running(dashboard) as pilot:
        pane = DetailPane()
        await dashboard.screen.mount(pane)
        pane.show("never-was")
        await until(pilot, lambda: "no operation 'never-was'" in str(pane.query_one("#detail-title", Static).content))


class CountingPane(DetailPane):
    """A pane that counts how often it has read."""

    reads = 0

    def on_detail_pane_read(self) -> None:
        """It has read its operation once more."""
        self.reads += 1


async def test_what_is_shown_already_is_read_again_only_when_it_has_changed(dashboard: TestedDashboard) -> None:
    """A cursor that rests where it was, and seconds that pass, cost no look at the audit; another check is one."""
    await dashboard.track("acme-1")
    async with running(dashboard) as pilot:
        await settled(pilot)
        pane = CountingPane()
        await dashboard.screen.mount(pane)
        pane.show("acme-1", rests=True)
        await until(pilot, lambda: pane.reads == 1)
        for _ in range(3):
            pane.show("acme-1")
            await pass_time(pilot, 1)
        await pilot.pause(0.2)
        assert pane.reads == 1
        await dashboard.check("acme-1")
        await until(pilot, lambda: pane.reads > 1 and pane.dossier is not None and len(pane.dossier.attempts) == 1)
