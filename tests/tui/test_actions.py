"""The one table of actions: keys, palette, `:` commands and the mouse reach the same ones."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from textual.screen import Screen
from textual.widgets import HelpPanel, Input

from jobconsole.tui.action import Takes
from jobconsole.tui.actions import ACTIONS, COMMANDS, nearest_commands
from jobconsole.tui.clock_face import TimeStyle
from jobconsole.tui.keys import binding_ids, read_keymap
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.screens.operations import OperationsScreen
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.test_operations_table import five, table_of


async def test_the_palette_has_every_action(dashboard: TestedDashboard) -> None:
    """No action lives on a key alone."""
    async with running(dashboard):
        offered = {command.title for command in dashboard.get_system_commands(dashboard.screen)}
        assert offered == {action.title for action in ACTIONS.values()}


def test_no_two_actions_share_a_key_a_command_or_a_title() -> None:
    """Else one of them could not be reached. Only where an inbox item is looked at, a key may have another meaning."""
    keys = Counter(key for action in ACTIONS.values() if not action.needs_item for key in action.keys.split(",") if key)
    assert [key for key, count in keys.items() if count > 1] == []
    assert len({action.title for action in ACTIONS.values()}) == len(ACTIONS)
    commands = [action.command for action in ACTIONS.values() if action.command]
    assert len(set(commands)) == len(commands)


async def test_every_tab_leads_to_its_screen(dashboard: TestedDashboard) -> None:
    """By command and by key; escape leads back to the operations."""
    async with running(dashboard) as pilot:
        for mode in dashboard.MODES:
            dashboard.run_command(mode)
            await pilot.pause()
            assert dashboard.current_mode == mode
            assert dashboard.main_screen.mode == mode
        await pilot.press("escape")
        await until(pilot, lambda: dashboard.current_mode == "operations")


async def test_an_unknown_command_names_the_nearest_three(dashboard: TestedDashboard) -> None:
    """And does nothing."""
    async with running(dashboard) as pilot:
        await pilot.press("colon", *"themes", "enter")
        await pilot.pause()
        (notice,) = dashboard._notifications
        assert ":themes is no command. Nearest: theme" in notice.message
        assert len(nearest_commands("themes")) == 3


def commands_that_take(takes: Takes) -> list[str]:
    """The words after `:` of the actions behind which this may stand."""
    return [action.command for action in COMMANDS.values() if action.takes is takes]


@pytest.mark.rule("U8")
async def test_a_command_that_takes_nothing_refuses_what_is_typed_behind_it(dashboard: TestedDashboard) -> None:
    """It does nothing then, `quit` included."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        before = (dashboard.screen, dashboard.current_mode, dashboard.feed.is_paused)
        for command in commands_that_take(Takes.NOTHING):
            dashboard.clear_notifications()
            dashboard.run_command(f"{command} job-2")
            await pilot.pause()
            (notice,) = dashboard._notifications
            assert notice.message.startswith(f":{command} takes nothing behind it")
            assert notice.message.endswith("Nothing was done with 'job-2'.")
            assert (dashboard.screen, dashboard.current_mode, dashboard.feed.is_paused) == before
        assert dashboard.is_running


@pytest.mark.rule("U8")
async def test_a_command_never_acts_on_the_cursor_where_another_operation_was_typed(dashboard: TestedDashboard) -> None:
    """What fits no operation is refused, with what may stand there."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        screen = dashboard.screen
        for command in commands_that_take(Takes.OPERATION):
            for typed in ("foo", "-5", "job-"):
                dashboard.clear_notifications()
                dashboard.run_command(f"{command} {typed}")
                await pilot.pause()
                (notice,) = dashboard._notifications
                assert notice.message.startswith(f"No operation is {typed!r}; nothing was done. Behind :{command} stands an id")
                assert dashboard.screen is screen


@pytest.mark.rule("U8")
@pytest.mark.parametrize("typed", ["job-2", "JOB-2", "Second"])
async def test_an_operation_that_is_typed_is_acted_on_in_place_of_cursor_and_marks(
    dashboard: TestedDashboard, typed: str
) -> None:
    """By its id or its name; the cursor stands on another one, and two more are marked."""
    for number in range(1, 6):
        await dashboard.track(f"job-{number}", title="second" if number == 2 else f"number {number}")
    async with running(dashboard) as pilot:
        await settled(pilot)
        table_of(dashboard).marked = {"job-1", "job-4"}
        assert table_of(dashboard).cursor_id != "job-2"
        dashboard.run_command(f"open {typed}")
        await until(pilot, lambda: isinstance(dashboard.screen, DetailScreen) and dashboard.screen.is_running)
        await pilot.pause()
        assert [each.operation_id for each in dashboard.main_screen.subjects(for_many=False)] == ["job-2"]


@pytest.mark.rule("U8")
async def test_a_name_that_two_operations_have_is_refused_with_their_ids(dashboard: TestedDashboard) -> None:
    """Neither of them is cancelled."""
    for number in (1, 2):
        await dashboard.track(f"job-{number}", title="twin")
    async with running(dashboard) as pilot:
        await settled(pilot)
        screen = dashboard.screen
        dashboard.run_command("cancel twin")
        await pilot.pause()
        (notice,) = dashboard._notifications
        assert "'twin' fits 2 operations: job-" in notice.message
        assert dashboard.screen is screen


async def test_a_jump_to_no_place_is_refused(dashboard: TestedDashboard) -> None:
    """The audit is shown, and what may be typed is said."""
    async with running(dashboard) as pilot:
        dashboard.run_command("jump mars")
        await until(pilot, lambda: bool(dashboard._notifications))
        (notice,) = dashboard._notifications
        assert notice.message == "'mars' is neither a number nor a time. Write 1042, 10:20:31 or 2h."


async def test_what_is_typed_after_a_colon_never_reaches_the_table(dashboard: TestedDashboard) -> None:
    """`:pause` holds p, a, u, s, e: keys of their own, pressed without a pause between them."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        await asyncio.wait_for(pilot.press("colon", *"sort name", "enter"), 60)
        await pilot.pause()
        assert not dashboard.feed.is_paused
        assert table.order.column.key == "name"
        assert table.has_focus


async def test_a_filter_works_while_it_is_typed_and_escape_takes_it_back(dashboard: TestedDashboard) -> None:
    """job-3 alone, then all five again; enter keeps a filter and shows it, escape on the table clears it."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        table = table_of(dashboard)
        await pilot.press("slash", *"job-3")
        await pilot.pause()
        assert table.order.rows == ["job-3"]
        await pilot.press("escape")
        await pilot.pause()
        assert len(table.order.rows) == 5
        await pilot.press("slash", *"!job-3", "enter")
        await pilot.pause()
        assert table.order.rows == ["job-5", "job-4", "job-2", "job-1"]
        assert any("/ !job-3" in line for line in text_of(dashboard))
        assert any("4 of 5" in line for line in text_of(dashboard))
        await pilot.press("escape")
        await pilot.pause()
        assert len(table.order.rows) == 5
        assert dashboard.query_one(Input).display


async def test_a_wrong_filter_says_how_it_is_written_and_is_not_taken(dashboard: TestedDashboard) -> None:
    """`colour:red` is no term: enter leaves it open to be mended, escape goes back to what was filtered before."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        await pilot.press("slash", *"colour:red", "enter")
        await pilot.pause()
        assert any("colour: is not known" in line for line in text_of(dashboard))
        assert dashboard.screen.query_one(Input).has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert len(table_of(dashboard).order.rows) == 5


async def test_a_wrong_filter_behind_a_command_is_told(dashboard: TestedDashboard) -> None:
    """`:filter colour:red` leaves everything as it is filtered, and says why."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        dashboard.run_command("filter job-3")
        await pilot.pause()
        dashboard.run_command("filter colour:red")
        await pilot.pause()
        assert table_of(dashboard).order.rows == ["job-3"]
        (notice,) = dashboard._notifications
        assert "colour: is not known" in notice.message


async def test_times_change_everywhere_at_once(dashboard: TestedDashboard) -> None:
    """Age, local, UTC, age; `:tz utc` names one, and a wrong name is told."""
    await dashboard.track("job-1")
    async with running(dashboard) as pilot:
        await pass_time(pilot, 5)
        dashboard.run_command("tz utc")
        await pilot.pause()
        assert any("10:00:00" in line and "job-1" in line for line in text_of(dashboard))
        assert any("SINCE" in line and "AGE" not in line for line in text_of(dashboard)[:6])
        await pilot.press("t")
        assert dashboard.time_style is TimeStyle.AGE
        await pilot.pause()
        assert any("AGE" in line and "SINCE" not in line for line in text_of(dashboard)[:6])
        dashboard.run_command("tz mars")
        assert dashboard.time_style is TimeStyle.AGE


async def test_help_shows_the_keys_as_they_are_bound(dashboard: TestedDashboard) -> None:
    """The panel is made from the live bindings; `?` again takes it away."""
    dashboard.set_keymap(read_keymap({"view.pause": "ctrl+k"}, []))
    async with running(dashboard, (140, 60)) as pilot:
        await pilot.press("question_mark")
        await until(
            pilot, lambda: all(any(key in line for line in text_of(dashboard)) for key in ("^k Pause repainting", "Extend"))
        )
        await pilot.press("question_mark")
        await until(pilot, lambda: not dashboard.screen.query(HelpPanel))


@pytest.mark.parametrize(
    ("opens", "screen"), [("operations", OperationsScreen), ("inbox", InboxScreen), ("open", DetailScreen)]
)
async def test_escape_closes_the_help_before_anything_else(
    dashboard: TestedDashboard, opens: str, screen: type[Screen[None]]
) -> None:
    """On every screen, and the screen stays."""
    await dashboard.track("job-1")
    async with running(dashboard, (140, 40)) as pilot:
        await settled(pilot)
        dashboard.run_command(opens)
        await until(pilot, lambda: isinstance(dashboard.screen, screen) and dashboard.screen.is_current)
        await pilot.pause()
        shown = dashboard.screen
        await pilot.press("question_mark")
        await until(pilot, lambda: bool(shown.query(HelpPanel)))
        await pilot.press("escape")
        await until(pilot, lambda: not shown.query(HelpPanel))
        assert dashboard.screen is shown


async def test_another_key_works_and_the_old_one_no_more(dashboard: TestedDashboard) -> None:
    """Keys are changed by the id of their binding, in the table too."""
    await five(dashboard)
    dashboard.set_keymap(read_keymap({"view.pause": "ctrl+k", "list.down": "n"}, []))
    async with running(dashboard) as pilot:
        await pilot.press("p", "j")
        assert not dashboard.feed.is_paused
        assert table_of(dashboard).cursor_id == "job-5"
        await pilot.press("ctrl+k", "n")
        assert dashboard.feed.is_paused
        assert table_of(dashboard).cursor_id == "job-4"


def test_every_binding_that_can_be_changed_has_an_id() -> None:
    """Actions, and moves in the table."""
    assert {"operation.open", "app.quit", "list.down", "list.half-up"} <= binding_ids()
    assert set(ACTIONS) <= binding_ids()
    assert "theme" in COMMANDS


async def test_q_leaves_only_from_the_root(dashboard: TestedDashboard) -> None:
    """Above an operation it goes back, on the operations it leaves."""
    await five(dashboard)
    async with running(dashboard) as pilot:
        await settled(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: len(dashboard.screen_stack) == 2)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(dashboard.screen, OperationsScreen))
        assert dashboard.is_running
        await pilot.press("q")
        await until(pilot, lambda: not dashboard.is_running)
    assert dashboard.return_code == 0


@pytest.mark.rule("H11", "X19")
async def test_a_missing_worker_and_a_read_only_store_are_in_sight(dashboard: TestedDashboard) -> None:
    """The badge and what to do; a worker that comes takes it away within a second."""
    async with running(dashboard) as pilot:
        assert any("no worker" in line for line in text_of(dashboard)[:1])
        assert any("no worker is running" in line for line in text_of(dashboard)[-3:])
        async with dashboard.desk.store.announce(dashboard.desk.worker_info):
            await pass_time(pilot, 1)
            assert any("● worker" in line for line in text_of(dashboard)[:1])


async def test_all_tabs_stand_in_a_terminal_of_80_columns(dashboard: TestedDashboard) -> None:
    """The name of the program goes before any tab does."""
    async with running(dashboard, (80, 24)):
        top = text_of(dashboard)[0]
        assert [tab for tab in ("Operations", "Inbox", "Audit", "Providers", "Log") if tab not in top] == []


async def test_a_click_on_a_tab_leads_there(dashboard: TestedDashboard) -> None:
    """The mouse reaches the same actions: the second tab is the inbox."""
    async with running(dashboard) as pilot:
        inbox = text_of(dashboard)[0].index("Inbox")
        await pilot.click("Header", offset=(inbox + 1, 0))
        await until(pilot, lambda: dashboard.current_mode == "inbox")


@pytest.mark.parametrize("mode", ["operations", "inbox", "audit", "providers", "log"])
@pytest.mark.parametrize("columns", [60, 80, 120])
async def test_quit_is_in_sight_on_every_screen_and_on_top_of_its_help(
    dashboard: TestedDashboard, mode: str, columns: int
) -> None:
    """In the footer where 80 columns have room for it, and always in the first lines of the keys."""
    await dashboard.track("job-1")
    async with running(dashboard, (columns, 24)) as pilot:
        await settled(pilot)
        dashboard.run_command(mode)
        await until(pilot, lambda: dashboard.main_screen.mode == mode and dashboard.screen.is_current)
        await pilot.pause(0.1)
        await until(pilot, lambda: columns < 80 or "q Quit" in text_of(dashboard)[-1])
        await pilot.press("question_mark")
        await until(pilot, lambda: any("q Quit" in line for line in text_of(dashboard)[:4]))
