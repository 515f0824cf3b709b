"""Extend and pause: the cost stands there while it is typed, Enter accepts in the last field only, and a reason is kept."""

from __future__ import annotations

from functools import partial

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.dialogs.extend import ExtendDialog
from jobconsole.tui.screens.operations import OperationsScreen
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.test_dialogs import opened


@pytest.fixture
async def watched(dashboard: TestedDashboard) -> TestedDashboard:
    """A dashboard with one operation that waits."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1")
    return dashboard


async def typed(pilot: Pilot[None], field: str, text: str) -> None:
    """Type into an empty field as a person does, and let the quiet time pass."""
    entry = pilot.app.screen.query_one(field, Input)
    entry.focus()
    entry.clear()
    await pilot.press(*text)
    await pilot.pause()
    await pass_time(pilot, 1)


def has_focus(app: TestedDashboard, widget_id: str) -> bool:
    """Whether the keys go there."""
    return app.focused is not None and app.focused.id == widget_id


@pytest.mark.rule("H2")
@pytest.mark.parametrize(
    ("minutes", "cost", "change"),
    [
        ("5", "5 minutes and 4 more checks", "deadline 10:40:00 → 10:45:00 UTC"),
        ("1", "1 minute and 4 more checks", "deadline 10:40:00 → 10:41:00 UTC"),
        ("16", "minutes: a whole number from 0 to 15.", ""),
        ("", "minutes: a whole number from 0 to 15.", ""),
    ],
)
async def test_the_cost_follows_what_is_typed(watched: TestedDashboard, minutes: str, cost: str, change: str) -> None:
    """Before anything happens."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await typed(pilot, "#grant-minutes", minutes)
        shown = "\n".join(text_of(watched))
        assert cost in shown
        assert change in shown


@pytest.mark.rule("H5")
async def test_enter_goes_from_field_to_field_and_accepts_in_the_last_one(watched: TestedDashboard) -> None:
    """Minutes, checks, failures, rate limits, then the reason, which the audit keeps."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        for field in ("grant-checks", "grant-failures", "grant-rate_limits", "reason"):
            await pilot.press("enter")
            await until(pilot, partial(has_focus, watched, field))
        await typed(pilot, "#reason", "tax is due")
        await pilot.press("enter")
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.times == 1)
    lines = [line async for line in watched.desk.events("acme-1")]
    assert any(b'"reason_text":"tax is due"' in line for line in lines)


async def test_enter_in_the_last_field_does_not_accept_what_is_wrong(watched: TestedDashboard) -> None:
    """16 minutes of 15 stay in the dialog, which says so."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await typed(pilot, "#grant-minutes", "16")
        watched.screen.query_one("#reason", Input).focus()
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(watched.screen, ExtendDialog)
    assert (await watched.desk.get("acme-1")).granted.times == 0


@pytest.mark.rule("U8")
async def test_five_enters_in_one_burst_accept_nothing(watched: TestedDashboard) -> None:
    """Whoever leans on the key has read no cost."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await pilot.press(*["enter"] * 8)
        await pilot.pause()
        assert isinstance(watched.screen, ExtendDialog)
    assert (await watched.desk.get("acme-1")).granted.times == 0


@pytest.mark.rule("H5")
async def test_without_a_reason_the_audit_says_that_none_was_given(watched: TestedDashboard) -> None:
    """An extension needs none."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.times == 1)
    lines = [line async for line in watched.desk.events("acme-1")]
    assert any(b'"reason_text":"no reason given"' in line for line in lines)


@pytest.mark.rule("H5")
async def test_a_reason_that_is_typed_while_a_number_has_the_focus_is_the_reason(watched: TestedDashboard) -> None:
    """No letter is lost, and none moves the focus; the number stays what it was."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await pilot.press(*"late quarter close")
        await pilot.pause()
        assert watched.screen.query_one("#reason", Input).value == "late quarter close"
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.minutes == 15)
    lines = [line async for line in watched.desk.events("acme-1")]
    assert any(b'"reason_text":"late quarter close"' in line for line in lines)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=str)
@pytest.mark.parametrize("key", ["e", "c", "X"])
async def test_the_buttons_of_every_dialog_are_in_sight(watched: TestedDashboard, key: str, size: tuple[int, int]) -> None:
    """On an ordinary terminal and on a huge one."""
    async with running(watched, size) as pilot:
        await settled(pilot)
        await pilot.press(key)
        await until(pilot, lambda: not isinstance(watched.screen, OperationsScreen))
        await pilot.pause()
        dialog = watched.screen
        assert isinstance(dialog, Dialog)
        for button in ("#keep", "#act"):
            assert dialog.query_one("#dialog").region.contains_region(dialog.query_one(button).region)
