"""The audit browser: pages, search, jumps, proof; a long audit costs what a page costs."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from jobconsole.core.chain import Breach, Broken, Verification
from jobconsole.tui.audit_pages import PAGE, matcher, page_after, page_before
from jobconsole.tui.detail_sections import Pen
from jobconsole.tui.dialogs.jump import JumpDialog
from jobconsole.tui.screens.audit import AuditScreen, proof
from jobconsole.tui.screens.detail import DetailScreen
from tests.tui.conftest import TestedDashboard, running, settled, text_of, until


async def open_audit(pilot: Pilot[None]) -> AuditScreen:
    """Go to the audit and wait for its page."""
    await settled(pilot)
    await pilot.press("A")
    await until(pilot, lambda: isinstance(pilot.app.screen, AuditScreen))
    screen = pilot.app.screen
    assert isinstance(screen, AuditScreen)
    await until(pilot, lambda: bool(screen.list.entries))
    return screen


async def fill(app: TestedDashboard, operations: int) -> None:
    """Operations, each of one event; with the store's own there is one more."""
    for number in range(operations):
        await app.track(f"acme-{number}")


async def test_it_opens_at_the_newest_event_and_turns_pages_at_their_ends(dashboard: TestedDashboard) -> None:
    """501 events: the last 200, and those before them by one key up."""
    await fill(dashboard, 500)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        assert (screen.list.entries[0].key, screen.list.cursor) == ("302", "501")
        screen.list.action_first()
        await pilot.press("k")
        await until(pilot, lambda: screen.list.cursor == "301")
        assert len(screen.list.entries) == PAGE
        await pilot.press("n")
        await until(pilot, lambda: screen.list.cursor == "302")


async def test_pages_are_read_both_ways_and_end_where_the_audit_ends(dashboard: TestedDashboard) -> None:
    """Never all lines."""
    await fill(dashboard, 30)
    desk = dashboard.desk
    assert [event.seq for event in await page_after(desk, 0, most=3)] == [1, 2, 3]
    assert [event.seq for event in await page_before(desk, 32, most=3)] == [29, 30, 31]
    assert [event.seq for event in await page_before(desk, 3, most=9)] == [1, 2]
    assert await page_after(desk, 31) == []


@pytest.mark.parametrize(
    ("search", "found"),
    [("acme-7", [9]), ("ACME-7", [9]), ("submitted acme-1", [3, 12, 13]), ("!submitted", [1]), ("nothing-like-it", [])],
)
async def test_a_search_finds_every_word_in_any_field(dashboard: TestedDashboard, search: str, found: list[int]) -> None:
    """`!word` must not occur."""
    await fill(dashboard, 12)
    matches = matcher(search)
    assert [event.seq for event in await page_before(dashboard.desk, 14, matches)] == found
    assert [event.seq for event in await page_after(dashboard.desk, 0, matches)] == found


async def test_slash_searches_and_escape_shows_all_again(dashboard: TestedDashboard) -> None:
    """As in every list."""
    await fill(dashboard, 12)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await pilot.press("slash", *"acme-7", "enter")
        await until(pilot, lambda: [entry.key for entry in screen.list.entries] == ["9"])
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.list.entries) == 13)


async def test_a_search_without_a_hit_says_so(dashboard: TestedDashboard) -> None:
    """No blank pane."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        screen.filter_by("zebra")
        await until(pilot, lambda: any('No event contains "zebra"' in line for line in text_of(dashboard)))


async def test_a_jump_goes_to_a_number_and_to_a_time(dashboard: TestedDashboard) -> None:
    """The first event at or after the time."""
    await fill(dashboard, 3)
    dashboard.clock.advance(60)
    await dashboard.track("late")
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        for typed, number in (("2", "2"), ("10:00:30", "5")):
            await pilot.press("J")
            await until(pilot, lambda: isinstance(dashboard.screen, JumpDialog))
            await pilot.press(*typed, "enter")
            await until(pilot, lambda number=number: screen.list.cursor == number)  # type: ignore[misc]


@pytest.mark.rule("L3")
async def test_verify_tells_what_the_chain_proves(dashboard: TestedDashboard) -> None:
    """A whole chain, and how far it is anchored."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await pilot.press("V")
        await until(pilot, lambda: "The chain is whole up to 3" in str(screen.query_one("#audit-proof", Static).content))


@pytest.mark.rule("L3")
def test_a_broken_chain_shows_the_first_broken_place_first() -> None:
    """In words, with its number."""
    broken = Broken(Breach.CHANGED, 17, 1, 17, "its hash does not fit")
    told = proof(Verification(whole_to=16, anchored_to=10, broken=broken), Pen(80, datetime(2026, 11, 29, tzinfo=UTC))).plain
    assert told.startswith("✖ BROKEN: changed at seq 17")


@pytest.mark.rule("H5")
async def test_who_approved_what_can_be_read_from_the_record(dashboard: TestedDashboard) -> None:
    """The decision, by whom, and why."""
    await dashboard.track("acme-1")
    await dashboard.desk.decide("acme-1", "extend", by="person:ben", reason="tax filing is due")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_audit(pilot)
        screen.filter_by("decided")
        await until(pilot, lambda: len(screen.list.entries) == 1)
        shown = " ".join(text_of(dashboard))
        assert "ben chose extend" in shown
        assert "tax filing is due" in shown


async def test_enter_opens_the_operation_of_an_event(dashboard: TestedDashboard) -> None:
    """From what happened to whom it happened."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        await open_audit(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(dashboard.screen, DetailScreen))
        assert isinstance(dashboard.screen, DetailScreen)
        assert dashboard.screen.operation_id == "acme-1"


async def test_the_newest_page_goes_on_by_itself(dashboard: TestedDashboard) -> None:
    """While the cursor is on its last line."""
    await fill(dashboard, 2)
    async with running(dashboard) as pilot:
        screen = await open_audit(pilot)
        await dashboard.track("new")
        await until(pilot, lambda: screen.list.cursor == "4")


async def test_a_record_is_shown_field_by_field(dashboard: TestedDashboard) -> None:
    """Nothing of the stored line is kept back."""
    await fill(dashboard, 1)
    async with running(dashboard, (140, 60)) as pilot:
        screen = await open_audit(pilot)
        told = str(screen.query_one("#audit-fields", Static).content)
        fields = json.loads([line async for line in dashboard.desk.events()][-1])
        assert all(f"{name}  " in told for name in fields)
