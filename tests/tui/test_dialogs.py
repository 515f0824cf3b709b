"""Dialogs: the safe button has the focus, Enter destroys nothing, bursts fire nothing, and undo is real (UX 3.4, SPEC U8)."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta

import pytest
from textual import events
from textual.notifications import Notification
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.cli.stopping import stop_on_signals
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import Phase
from jobconsole.engine.contracts import ContractBook
from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.actions import ACTIONS
from jobconsole.tui.dialogs.cancel import CancelDialog
from jobconsole.tui.dialogs.choose import ChooseDialog
from jobconsole.tui.dialogs.close import CloseDialog
from jobconsole.tui.dialogs.dialog import Dialog
from jobconsole.tui.dialogs.extend import ExtendDialog
from jobconsole.tui.dialogs.jump import place_of
from jobconsole.tui.dialogs.pause import time_ahead
from jobconsole.tui.dialogs.why import WhyDialog, second_of
from tests.engine.stage import Shelf
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until

NOW = datetime(2026, 11, 29, 10, 20, 31, tzinfo=UTC)


async def opened(pilot: Pilot[None], key: str, dialog: type[object]) -> None:
    """Press the key that opens a dialog, and let the quiet time pass."""
    await settled(pilot)
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, dialog))
    await pilot.pause()
    await pass_time(pilot, 1)


async def op_of(app: TestedDashboard) -> Operation:
    """The one operation."""
    return await app.desk.get("acme-1")


@pytest.fixture
async def watched(dashboard: TestedDashboard) -> TestedDashboard:
    """A dashboard with one operation that waits."""
    await dashboard.track("acme-1")
    await dashboard.check("acme-1")
    return dashboard


@pytest.mark.rule("C9", "H2")
async def test_cancel_names_the_documented_effect_and_the_safe_button_has_the_focus(watched: TestedDashboard) -> None:
    """The contract's own words stand in the question."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        shown = "\n".join(text_of(watched))
        assert "Stops the job; partial output is lost." in shown
        assert watched.focused is not None
        assert watched.focused.id == "keep"


@pytest.mark.parametrize("keys", [["enter"], ["escape"], ["tab", "enter"], ["c", "c"], ["q"]], ids=" ".join)
async def test_no_ordinary_key_destroys(watched: TestedDashboard, keys: list[str]) -> None:
    """Enter keeps it running, on whichever button it falls; so does the opening key, however often."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        await pilot.press(*keys)
        await pass_time(pilot, 10)
        assert watched.holds.waiting == []
    assert (await op_of(watched)).cancel_requested_at is None


@pytest.mark.rule("H5")
async def test_what_was_confirmed_is_held_for_five_seconds_and_u_undoes_it(watched: TestedDashboard) -> None:
    """Before that nothing is decided, and after undo nothing ever is."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        await pilot.press("C")
        await until(pilot, lambda: bool(watched.holds.waiting))
        await pass_time(pilot, 4)
        assert any("u undoes" in line for line in text_of(watched))
        await pilot.press("u")
        await pass_time(pilot, 10)
        assert watched.holds.waiting == []
    op = await op_of(watched)
    assert (op.cancel_requested_at, op.decided) == (None, ())


async def test_after_the_hold_the_cancel_is_decided_for_the_revision_that_was_shown(watched: TestedDashboard) -> None:
    """Five seconds after `C` the core hears of it, once."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        await pilot.press("C")
        await until(pilot, lambda: bool(watched.holds.waiting))
        await pass_time(pilot, 5)
        await until(pilot, lambda: watched.feed.operations["acme-1"].cancel_requested_at is not None)
    assert [(done.option, done.by) for done in (await op_of(watched)).decided] == [("cancel", "ana")]


async def confirm_at_once(pilot: Pilot[None]) -> None:
    """Press `c` and, as soon as its dialog is there, `C`."""
    await settled(pilot)
    await pilot.press("c")
    await until(pilot, lambda: isinstance(pilot.app.screen, CancelDialog))
    await pilot.press("C")
    await pilot.pause()


@pytest.mark.rule("U8")
async def test_keys_that_were_queued_before_the_dialog_opened_do_not_confirm_it(watched: TestedDashboard) -> None:
    """`c` and `C` in one burst open the dialog and no more."""
    async with running(watched) as pilot:
        await confirm_at_once(pilot)
        assert isinstance(watched.screen, CancelDialog)
        assert watched.holds.waiting == []


@pytest.mark.rule("U8")
@pytest.mark.parametrize("burst", ["ec", "ce", "Xw", "xc", "nc", "cnXwxeq"])
async def test_keys_that_come_together_ask_one_question(watched: TestedDashboard, burst: str) -> None:
    """The first of them asks; the others are ignored, which is told once, and none of them leaves."""
    async with running(watched) as pilot:
        await settled(pilot)
        for key in burst:
            await watched.run_action(watched_action(key), watched)
        await until(pilot, lambda: watched.screen.is_modal)
        await pilot.pause(0.1)
        assert len(watched.screen_stack) == 2
        assert len([each for each in watched._notifications if "Too fast" in each.message]) == 1
        await pilot.press("escape")
        await until(pilot, lambda: not watched.screen.is_modal)


def watched_action(key: str) -> str:
    """What the binding of this key runs."""
    (action,) = (each for each in ACTIONS.values() if key in each.keys.split(","))
    return f"act('{action.action_id}')"


@pytest.mark.rule("U8")
async def test_pasted_text_confirms_nothing(watched: TestedDashboard) -> None:
    """Neither as one paste nor as the keys of one."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        watched.screen.post_message(events.Paste("C\nC\n"))
        await pilot.press("a", "C")
        await pass_time(pilot, 10)
        assert watched.holds.waiting == []
    assert (await op_of(watched)).cancel_requested_at is None


@pytest.mark.rule("U8")
async def test_two_confirmations_of_one_cancel_are_one_act(watched: TestedDashboard) -> None:
    """The second hold of the same option is not begun."""
    async with running(watched) as pilot:
        for _ in range(2):
            await opened(pilot, "c", CancelDialog)
            await pilot.press("C")
            await until(pilot, lambda: not isinstance(watched.screen, Dialog))
        assert len(watched.holds.waiting) == 1


@pytest.mark.rule("H5")
async def test_close_needs_a_reason_in_words(watched: TestedDashboard) -> None:
    """Without one it stays open and says so; with one the audit keeps it."""
    async with running(watched) as pilot:
        await opened(pilot, "X", CloseDialog)
        await pilot.press("ctrl+s")
        assert any("Say why in a few words first." in line for line in text_of(watched))
        await pilot.press(*"not needed")
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: bool(watched.holds.waiting))
        await pass_time(pilot, 5)
        await until(pilot, lambda: watched.feed.operations["acme-1"].phase is Phase.ABANDONED)
    lines = [line async for line in watched.desk.events("acme-1")]
    assert any(b'"reason_text":"not needed"' in line for line in lines)


@pytest.mark.rule("H5")
async def test_enter_after_a_reason_does_not_throw_it_away(watched: TestedDashboard) -> None:
    """However often: it says which key decides. Esc drops it, and that is said."""
    async with running(watched) as pilot:
        await opened(pilot, "X", CloseDialog)
        await pilot.press(*"over", "enter", "enter", "enter")
        await pilot.pause()
        assert isinstance(watched.screen, CloseDialog)
        assert any("Enter decides nothing here: ctrl+s does it" in line for line in text_of(watched))
        await pilot.press("escape")
        await until(pilot, lambda: any("Nothing was decided; the reason" in each.message for each in watched._notifications))


@pytest.mark.rule("U6")
async def test_a_key_that_came_too_fast_to_confirm_is_told_so(watched: TestedDashboard) -> None:
    """Nothing happens, and nobody wonders why."""
    async with running(watched) as pilot:
        await confirm_at_once(pilot)
        assert any("Too fast: this has only just opened" in line for line in text_of(watched))


async def test_leaving_during_the_hold_sends_nothing(watched: TestedDashboard) -> None:
    """Silence is no decision: what was held is dropped with the dashboard."""
    async with running(watched) as pilot:
        await opened(pilot, "c", CancelDialog)
        await pilot.press("C")
        await until(pilot, lambda: bool(watched.holds.waiting))
    watched.clock.advance(10)
    assert (await op_of(watched)).cancel_requested_at is None


async def test_what_was_held_when_the_window_closed_is_told_and_not_done(
    watched: TestedDashboard, capsys: pytest.CaptureFixture[str]
) -> None:
    """SIGHUP leaves the dashboard as Ctrl+Q does."""
    before = {number: signal.getsignal(number) for number in (signal.SIGHUP, signal.SIGCONT)}
    try:
        async with running(watched) as pilot:
            with stop_on_signals(watched.exit) as stopped:
                await opened(pilot, "c", CancelDialog)
                await pilot.press("C")
                await until(pilot, lambda: bool(watched.holds.waiting))
                signal.raise_signal(signal.SIGHUP)
                await until(pilot, lambda: not watched.holds.waiting)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert stopped.by is signal.SIGHUP
    watched.clock.advance(10)
    assert (await op_of(watched)).cancel_requested_at is None
    told = " ".join(capsys.readouterr().err.split())
    assert "The dashboard was left while it could still be undone; nothing was sent." in told


@pytest.mark.rule("X6")
async def test_extend_grants_less_where_less_is_asked_for(watched: TestedDashboard) -> None:
    """5 minutes in place of 15; the change is told before it happens."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        watched.screen.query_one("#grant-minutes", Input).value = "5"
        await pilot.pause()
        assert any("10:40:00 → 10:45:00 UTC" in line for line in text_of(watched))
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.minutes == 5)


async def test_extend_refuses_more_than_the_contract_offers(watched: TestedDashboard) -> None:
    """16 of 15 minutes stay in the dialog."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        watched.screen.query_one("#grant-minutes", Input).value = "16"
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(watched.screen, ExtendDialog)
        assert any("a whole number from 0 to 15" in line for line in text_of(watched))
    assert (await op_of(watched)).granted.times == 0


@pytest.mark.parametrize("key", ["enter", "1"])
async def test_options_are_picked_by_enter_and_by_digit(watched: TestedDashboard, key: str) -> None:
    """The first one extends; pressed in one burst with the key that opened the dialog, neither does."""
    async with running(watched) as pilot:
        await settled(pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(watched.screen, ChooseDialog))
        await pilot.press(key)
        await pilot.pause()
        assert isinstance(watched.screen, ChooseDialog)
        assert any("Too fast" in each.message for each in watched._notifications)
        await pass_time(pilot, 1)
        await pilot.press(key)
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.times == 1)


async def test_a_picked_option_goes_on_to_its_question(watched: TestedDashboard) -> None:
    """`x`, then the digit of cancel: its dialog opens while the first one still closes."""
    async with running(watched) as pilot:
        await opened(pilot, "x", ChooseDialog)
        await pilot.press("2")
        await until(pilot, lambda: isinstance(watched.screen, CancelDialog))


@pytest.mark.rule("U6", "X6")
async def test_options_say_why_one_is_missing(watched: TestedDashboard) -> None:
    """After both extensions of the contract, extend is dim, with the core's words."""
    for _ in range(2):
        await watched.desk.decide("acme-1", "extend", by="person:ana")
    async with running(watched) as pilot:
        await opened(pilot, "x", ChooseDialog)
        assert any("the cap of 2 extension(s) in this operation's life is reached" in line for line in text_of(watched))


@pytest.mark.rule("U6", "X13")
@pytest.mark.parametrize(("key", "option"), [("e", "extend"), ("c", "cancel")])
async def test_where_the_contract_is_lost_what_needs_it_says_so(watched: TestedDashboard, key: str, option: str) -> None:
    async with running(watched) as pilot:
        await settled(pilot)
        watched.desk.book = ContractBook(MemoryStore(watched.clock), Shelf())
        await pilot.press(key)
        lost = f"its contract is lost, and {option} needs it; restore contracts/"
        await until(pilot, lambda: any(lost in each.message for each in told(watched)))
        assert not isinstance(watched.screen, Dialog)


@pytest.mark.rule("U6", "X13")
async def test_where_the_contract_is_lost_a_person_may_stop_watching(watched: TestedDashboard) -> None:
    """Close is the one card that is open; beside it stands why the others are not."""
    async with running(watched) as pilot:
        await settled(pilot)
        watched.desk.book = ContractBook(MemoryStore(watched.clock), Shelf())
        await pilot.press("x")
        await until(pilot, lambda: isinstance(watched.screen, ChooseDialog))
        assert any("Cancel  its contract is lost, and cancel needs it; restore contracts/" in line for line in text_of(watched))
        await pass_time(pilot, 1)
        await pilot.press("1")
        await until(pilot, lambda: isinstance(watched.screen, CloseDialog))


def told(app: TestedDashboard) -> list[Notification]:
    """The toasts."""
    return list(app._notifications)


@pytest.mark.rule("U8")
async def test_a_dialog_acts_on_the_operation_it_was_opened_for(watched: TestedDashboard) -> None:
    """Other operations come and go meanwhile; the id and the revision are those of the opening."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        dialog = watched.screen
        assert isinstance(dialog, Dialog)
        await watched.track("acme-0")
        await settled(pilot)
        assert (dialog.operation_id, dialog.revision) == ("acme-1", 1)
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: watched.feed.operations["acme-1"].granted.times == 1)
    assert (await watched.desk.get("acme-0")).granted.times == 0


@pytest.mark.rule("H4")
async def test_what_changed_while_the_dialog_was_open_is_refused_by_the_core(watched: TestedDashboard) -> None:
    """Ben was faster; Ana is told, and nothing happens twice."""
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await watched.desk.decide("acme-1", "extend", by="person:ben")
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: any("already answered by ben" in each.message for each in watched._notifications))
    assert (await op_of(watched)).granted.times == 1


@pytest.mark.rule("U7")
async def test_why_is_answered_in_the_cores_words_for_any_second(watched: TestedDashboard) -> None:
    """The dialog and the desk say the same."""
    async with running(watched) as pilot:
        await opened(pilot, "w", WhyDialog)
        await until(pilot, lambda: any("Next:" in line for line in text_of(watched)))
        watched.screen.query_one(Input).value = "09:59:59"
        await pilot.press("enter")
        await until(pilot, lambda: any("the operation begins at 10:00:00" in line for line in text_of(watched)))


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("15m", NOW + timedelta(minutes=15)),
        ("1h30m", NOW + timedelta(minutes=90)),
        ("14:30", NOW.replace(hour=14, minute=30, second=0)),
        ("10:20", NOW.replace(minute=20, second=0) + timedelta(days=1)),  # over today, so tomorrow
        ("25:00", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_time_ahead_is_a_duration_or_a_clock_of_the_day(typed: str, means: datetime | None) -> None:
    """For pauses: always in the future."""
    assert time_ahead(typed, NOW) == means


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("10:20:05", NOW.replace(second=5)),
        ("23:00", NOW.replace(hour=23, minute=0, second=0) - timedelta(days=1)),  # not yet today, so yesterday
        ("2m", NOW - timedelta(minutes=2)),
        ("2026-11-28T09:00:00Z", datetime(2026, 11, 28, 9, tzinfo=UTC)),
        ("never", None),
    ],
)
def test_a_past_second_is_a_clock_a_full_time_or_how_long_ago(typed: str, means: datetime | None) -> None:
    """For "why?" and jumps: never in the future by a clock alone."""
    assert second_of(typed, NOW) == means


@pytest.mark.parametrize(
    ("typed", "place"), [("1042", 1042), ("1,042", 1042), ("10:20:05", NOW.replace(second=5)), ("x", None)]
)
def test_a_jump_goes_to_a_number_or_a_time(typed: str, place: int | datetime | None) -> None:
    """Numbers may have their commas."""
    assert place_of(typed, NOW) == place


@pytest.mark.rule("H11")
async def test_a_read_only_dashboard_is_refused_by_the_core_and_says_so(watched: TestedDashboard) -> None:
    """The key is there, the dialog too; what refuses is the store's handle, and nothing is changed."""
    store = watched.desk.store
    assert isinstance(store, MemoryStore)
    watched.desk.store = store.handle(is_read_only=True)
    async with running(watched) as pilot:
        await opened(pilot, "e", ExtendDialog)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: any(each.severity == "error" for each in watched._notifications))
    assert (await op_of(watched)).granted.times == 0
