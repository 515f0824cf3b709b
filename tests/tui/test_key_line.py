"""The bottom line: the keys that work here, as many as have room, and help always."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey
from textual.widgets._toast import Toast

from jobconsole.tui.screens.operations import PANE_FROM
from tests.tui.conftest import TestedDashboard, running, settled, text_of, until


def key_line(pilot: Pilot[None]) -> str:
    """The bottom line of the screen; empty while it is not drawn."""
    app = pilot.app
    assert isinstance(app, TestedDashboard)
    return (text_of(app) or [""])[-1]


@pytest.mark.parametrize("mode", ["operations", "inbox", "audit", "providers", "log"])
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
async def test_help_is_always_there_and_no_word_is_cut_off(dashboard: TestedDashboard, mode: str, columns: int) -> None:
    """What has no room is not there."""
    await dashboard.track("acme-1")
    async with running(dashboard, (columns, 24)) as pilot:
        await settled(pilot)
        dashboard.go(mode)
        await until(pilot, lambda: "? Help" in key_line(pilot))
        shown = [key for key in dashboard.screen.query(FooterKey) if key.region.width]
        assert all(key.region.right <= columns for key in shown)
        assert [key.description for key in shown if key.description not in key_line(pilot)] == []


async def test_another_width_brings_other_keys(dashboard: TestedDashboard) -> None:
    """At once."""
    async with running(dashboard, (120, 24)) as pilot:
        await until(pilot, lambda: ": Command" in key_line(pilot))
        await pilot.resize_terminal(50, 24)
        await until(pilot, lambda: ": Command" not in key_line(pilot) and "? Help" in key_line(pilot))


async def test_keys_that_need_an_operation_are_lit_once_there_is_one(dashboard: TestedDashboard) -> None:
    """Not before, and without another key."""
    async with running(dashboard) as pilot:
        await until(pilot, lambda: is_lit(dashboard, "Open") is False)
        await dashboard.track("acme-1")
        await until(pilot, lambda: is_lit(dashboard, "Open") is True)


def is_lit(dashboard: TestedDashboard, description: str) -> bool | None:
    """Whether a key would act; None where it is not shown."""
    found = [key for key in dashboard.screen.query(FooterKey) if key.description == description]
    return not found[0].has_class("-disabled") if found else None


async def test_help_takes_the_place_of_the_pane_where_both_have_no_room(dashboard: TestedDashboard) -> None:
    """The table keeps its columns."""
    await dashboard.track("acme-1")
    async with running(dashboard, (PANE_FROM, 30)) as pilot:
        await settled(pilot)
        pane = dashboard.screen.query_one("#side-pane")
        await until(pilot, lambda: pane.display)
        await pilot.press("question_mark")
        await until(pilot, lambda: not pane.display)
        await pilot.press("question_mark")
        await until(pilot, lambda: pane.display)


async def test_a_toast_leaves_the_status_and_the_keys_in_sight(dashboard: TestedDashboard) -> None:
    """It stands above both, and is no higher than its text."""
    await dashboard.track("acme-1")
    async with running(dashboard, (120, 24)) as pilot:
        await settled(pilot)
        dashboard.say("The mouse is off.")
        await until(pilot, lambda: any("The mouse is off." in line for line in text_of(dashboard)))
        *_, status, keys = text_of(dashboard)
        assert "1 · sort: state" in status
        assert "? Help" in keys
        (toast,) = dashboard.screen.query(Toast)
        assert (toast.region.height, toast.region.bottom) == (1, 22)
