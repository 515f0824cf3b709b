"""The inbox acts on what was shown, tells what happened meanwhile, and is never empty without a sentence."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from jobconsole.core.vocabulary import Phase
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.widgets.inbox_card import InboxCard
from jobconsole.tui.widgets.line_list import LineList
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until


async def ask_about(app: TestedDashboard, name: str) -> None:
    """Let an operation spend its one request, so that a person is asked."""
    from jobconsole.console import Budget

    await app.track(name, title=f"{name} export", budget=Budget(status_requests=1))
    app.clock.advance(60)
    op = await app.check(name)
    assert op.phase is Phase.ESCALATED


async def open_inbox(pilot: Pilot[None]) -> InboxScreen:
    """Go to the inbox and wait for its card."""
    await settled(pilot)
    await pilot.press("i")
    await until(pilot, lambda: isinstance(pilot.app.screen, InboxScreen))
    screen = pilot.app.screen
    assert isinstance(screen, InboxScreen)
    await pilot.pause()
    return screen


async def card_is_read(pilot: Pilot[None], screen: InboxScreen) -> InboxCard:
    """Wait until the card shows options, then let the quiet time pass."""
    card = screen.card
    await until(pilot, lambda: bool(card.query_one("#card-options", LineList).entries))
    await pass_time(pilot, 1)
    return card


@pytest.mark.rule("H2")
async def test_a_digit_on_the_focused_card_extends_once_inside_the_stated_bounds(dashboard: TestedDashboard) -> None:
    """One key is one click of what the card says: 40 → 55 minutes, 1 → 5 checks."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        shown = "\n".join(text_of(dashboard))
        assert "Extend once" in shown
        assert "checks 1 → 5" in shown
        await pilot.press("enter")
        await pass_time(pilot, 1)
        await pilot.press("1")
        await until(pilot, lambda: dashboard.feed.operations["acme-1"].granted.times == 1)
    op = await dashboard.desk.get("acme-1")
    assert op.max_status_requests == 1 + 4
    assert op.decided[-1].by == "ana"


@pytest.mark.rule("H2", "H9")
async def test_the_card_counts_on_while_it_is_looked_at(dashboard: TestedDashboard) -> None:
    """An extension counts from now once the deadline is over: its cost and the time waited are of this second."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        await pass_time(pilot, 60 * 60)
        await until(pilot, lambda: any("waited 1h" in line for line in text_of(dashboard)))
        assert screen.card.query_one("#card-options", LineList).cursor == "extend"


@pytest.mark.rule("U8")
async def test_digits_do_nothing_while_the_list_has_the_focus(dashboard: TestedDashboard) -> None:
    """A digit acts only after the card was focused."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        await pilot.press("1", "2", "3")
        await pilot.pause()
    assert (await dashboard.desk.get("acme-1")).decided == ()


@pytest.mark.rule("U8")
async def test_keys_that_come_in_a_burst_fire_nothing(dashboard: TestedDashboard) -> None:
    """Enter and a digit at the same moment are a queue or a paste, not a person who has looked."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        await pilot.press("enter", "tab", "x", "1", "1")
        await pilot.pause()
    assert (await dashboard.desk.get("acme-1")).decided == ()


@pytest.mark.rule("H4", "U1")
async def test_an_option_that_somebody_else_used_says_by_whom_and_stays_under_the_cursor(dashboard: TestedDashboard) -> None:
    """The item is struck out, the card says who answered, and the cursor is on no other item."""
    await ask_about(dashboard, "acme-1")
    await ask_about(dashboard, "acme-2")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        assert screen.card.operation_id == "acme-1"
        await dashboard.desk.decide("acme-1", "extend", by="person:ben")
        await settled(pilot)
        await until(pilot, lambda: "Answered by ben" in "\n".join(text_of(dashboard)))
        assert screen.list.cursor == "acme-1"
        await pilot.press("down")
        await pilot.pause()
        assert screen.list.cursor == "acme-2"
        await until(pilot, lambda: all(entry.key != "acme-1" for entry in screen.list.entries))


@pytest.mark.rule("H4")
async def test_a_stale_choice_is_refused_with_the_name_of_who_was_faster(dashboard: TestedDashboard) -> None:
    """The card acts on the revision that it shows; the core's refusal is told."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        card = await card_is_read(pilot, screen)
        revision = card.revision
        await dashboard.desk.decide("acme-1", "extend", by="person:ben")
        dashboard.answering.answer("acme-1", revision, "extend")
        await until(pilot, lambda: bool(dashboard._notifications))
        told = " ".join(each.message for each in dashboard._notifications)
        assert "already answered by ben" in told
    assert (await dashboard.desk.get("acme-1")).granted.times == 1


@pytest.mark.rule("U6")
async def test_an_empty_inbox_says_who_answered_last_and_how_many_are_watched(dashboard: TestedDashboard) -> None:
    """No pane is blank without a sentence."""
    await dashboard.track("acme-1")
    async with running(dashboard) as pilot:
        await open_inbox(pilot)
        assert any("Nothing needs you. 1 operation watched, nothing was ever asked." in line for line in text_of(dashboard))


@pytest.mark.rule("H7")
async def test_decisions_and_looks_stand_apart(dashboard: TestedDashboard) -> None:
    """A job that failed is to be seen; one that spent its budget is to be decided."""
    await ask_about(dashboard, "acme-1")
    await dashboard.track("acme-2")
    dashboard.clock.advance(60)
    await dashboard.check("acme-2", {"state": "failed", "error": "disk full"})
    async with running(dashboard) as pilot:
        screen = await open_inbox(pilot)
        assert [entry.key for entry in screen.list.entries] == ["heading-decision", "acme-1", "heading-look", "acme-2"]
