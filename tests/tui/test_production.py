"""A production store: what destroys something asks for more than a key (UX 3.4)."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from jobconsole.tui.dialogs.cancel import CancelDialog
from jobconsole.tui.dialogs.dialog import Dialog
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.marking import confirmed, marked, tracked
from tests.tui.test_operations_table import table_of


@pytest.mark.parametrize("typed", ["e-02", "E-02"])
async def test_in_production_a_cancel_needs_the_last_four_characters_of_the_id(dashboard: TestedDashboard, typed: str) -> None:
    """Nothing but these; capitals do not matter, and the letter `C` is only typed."""
    dashboard.is_production = True
    await tracked(dashboard, 2)
    async with running(dashboard) as pilot:
        await settled(pilot)
        table_of(dashboard).go_to("acme-02")
        await pilot.press("c")
        await until(pilot, lambda: isinstance(dashboard.screen, CancelDialog))
        await pass_time(pilot, 1)
        await pilot.press("C")
        await confirmed(pilot, typed="e-01")
        assert any("Those are not the last 4 characters of the id." in line for line in text_of(dashboard))
        await confirmed(pilot, typed=typed)
        await until(pilot, lambda: len(dashboard.holds.waiting) == 1)


async def test_in_production_the_characters_can_be_typed_at_once(dashboard: TestedDashboard) -> None:
    """Enter after them decides nothing; the key does."""
    dashboard.is_production = True
    await tracked(dashboard, 1)
    async with running(dashboard) as pilot:
        await settled(pilot)
        await pilot.press("c")
        await until(pilot, lambda: isinstance(dashboard.screen, CancelDialog))
        await pilot.pause()
        await pilot.press(*"e-01", "enter")
        await pilot.pause()
        assert dashboard.screen.query_one("#typed", Input).value == "e-01"
        assert isinstance(dashboard.screen, CancelDialog)
        await confirmed(pilot)
        await until(pilot, lambda: len(dashboard.holds.waiting) == 1)


async def test_in_production_closing_needs_the_characters_and_the_reason(dashboard: TestedDashboard) -> None:
    """Extending needs neither."""
    dashboard.is_production = True
    await tracked(dashboard, 1)
    async with running(dashboard) as pilot:
        await settled(pilot)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(dashboard.screen, Dialog))
        await confirmed(pilot, reason="over")
        assert dashboard.holds.waiting == []
        await confirmed(pilot, reason="over", typed="e-01")
        await until(pilot, lambda: len(dashboard.holds.waiting) == 1)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(dashboard.screen, Dialog))
        assert not dashboard.screen.query("#typed")


async def test_in_production_the_count_is_typed_for_two(dashboard: TestedDashboard) -> None:
    """At any number, where something is destroyed."""
    dashboard.is_production = True
    await tracked(dashboard, 2)
    async with running(dashboard) as pilot:
        assert (await marked(pilot, "c")).query("#typed")
        await confirmed(pilot, typed="2")
        await until(pilot, lambda: len(dashboard.holds.waiting) == 1)
