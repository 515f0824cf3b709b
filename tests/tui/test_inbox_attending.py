"""Looking after inbox items: each key, command and dialog reaches the same act, on the item that the card shows (SPEC H7)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from jobconsole.testing.memory_store import MemoryStore
from jobconsole.tui.attending_actions import ATTENDING_ACTIONS
from jobconsole.tui.dialogs.assign import AssignDialog
from jobconsole.tui.dialogs.note import NoteArea, NoteDialog
from jobconsole.tui.dialogs.snooze import SnoozeDialog
from jobconsole.tui.screens.audit import AuditScreen
from jobconsole.tui.screens.detail import DetailScreen
from jobconsole.tui.settings import read_settings
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until
from tests.tui.test_inbox import ask_about, card_is_read, open_inbox

WIDE = (140, 40)


@pytest.fixture
async def asking(dashboard: TestedDashboard) -> TestedDashboard:
    """A dashboard with two items; the card shows the older one, `acme-1`."""
    await ask_about(dashboard, "acme-1")
    await ask_about(dashboard, "acme-2")
    return dashboard


async def at_inbox(pilot: Pilot[None]) -> None:
    """The inbox is in front, and its card is read."""
    await card_is_read(pilot, await open_inbox(pilot))


async def opened(pilot: Pilot[None], key: str, dialog: type[object]) -> None:
    """Press the key that opens a dialog, and let the quiet time pass."""
    await pilot.press(key)
    await until(pilot, lambda: isinstance(pilot.app.screen, dialog))
    await pilot.pause()
    await pass_time(pilot, 1)


def told(app: TestedDashboard) -> str:
    """All toasts."""
    return "\n".join(each.message for each in app._notifications)


def has(app: TestedDashboard, name: str = "acme-1") -> str | None:
    """Who looks after the item, as the screen has it."""
    return app.feed.operations[name].attention.assigned_to


def wakes_at(app: TestedDashboard, name: str = "acme-1") -> datetime | None:
    """Until when the item rests, as the screen has it."""
    return app.feed.operations[name].attention.snoozed_until


def notes(app: TestedDashboard, name: str = "acme-1") -> list[str]:
    """What was noted, as the screen has it."""
    return [note.text for note in app.feed.operations[name].attention.notes]


# ---- claiming and assigning --------------------------------------------------------------------------------------------------
async def test_a_claims_the_item_of_the_card_and_once_more_gives_it_back(asking: TestedDashboard) -> None:
    """The other item is not touched, and the row and the card say who has it."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("a")
        await until(pilot, lambda: has(asking) == "ana")
        await until(pilot, lambda: any("with      ana, since" in line for line in text_of(asking)))
        assert any("acme-1 export" in line and "ana  1m" in line for line in text_of(asking))
        assert has(asking, "acme-2") is None
        await pilot.press("a")
        await until(pilot, lambda: has(asking) is None)


@pytest.mark.rule("H7", "U8")
async def test_claims_in_one_burst_are_one_claim(asking: TestedDashboard) -> None:
    """Keys that were queued before the screen showed the first one's effect do not give it back again."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("p")  # the picture stands still: what is shown is what a person saw
        await pilot.press("a", "a", "a")
        async with asyncio.timeout(60):
            while (await asking.desk.get("acme-1")).attention.assigned_to is None:
                await pilot.pause(0.02)
        await pilot.pause(0.1)
    op = await asking.desk.get("acme-1")
    assert op.attention.assigned_to == "ana"
    assert sum(b'"item_changed"' in line for line in [line async for line in asking.desk.events("acme-1")]) == 1


@pytest.mark.rule("H7", "H4")
async def test_a_claim_that_lost_says_who_was_faster(asking: TestedDashboard) -> None:
    """Ben claimed it while Ana's picture was still; the core's words are told."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("p")
        await asking.desk.assign("acme-1", "ben", by="person:ben", shown=None)
        await pilot.press("a")
        await until(pilot, lambda: "acme-1 was given to ben at 10:02:01 UTC" in told(asking))
    assert (await asking.desk.get("acme-1")).attention.assigned_to == "ben"


@pytest.mark.rule("H7")
async def test_a_takes_nothing_away_from_another_person(asking: TestedDashboard) -> None:
    """It says who has it and how to take it over."""
    await asking.desk.assign("acme-1", "ben", by="person:ben", shown=None)
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("a")
        await until(pilot, lambda: "ben has it since 10:02:00 UTC. :assign ana takes it over." in told(asking))
        assert has(asking) == "ben"
        asking.run_command("assign ana")
        await until(pilot, lambda: has(asking) == "ana")


@pytest.mark.rule("H7")
async def test_assign_completes_a_name_that_was_seen_and_enter_takes_it(asking: TestedDashboard) -> None:
    """Ben wrote a note elsewhere: `b` and an arrow are enough."""
    await asking.desk.note("acme-2", "mine", by="person:ben")
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "A", AssignDialog)
        assert any("With nobody now. Seen here: ana, ben." in line for line in text_of(asking))
        await pilot.press("b")
        await until(pilot, lambda: bool(asking.screen.query_one("#name", Input)._suggestion))
        await pilot.press("right")
        await pilot.pause()
        assert any("It goes to ben." in line for line in text_of(asking))
        await pass_time(pilot, 1)
        await pilot.press("enter")
        await until(pilot, lambda: has(asking) == "ben")


async def test_assign_says_where_a_name_is_new_and_refuses_a_blank(asking: TestedDashboard) -> None:
    """A slip of the finger is seen before it is taken."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "A", AssignDialog)
        await pilot.press("enter")
        await pilot.pause()
        assert any("Type a name, or nobody." in line for line in text_of(asking))
        await pilot.press(*"anna")
        await pilot.pause()
        assert any("It goes to anna, a name that was not seen here before." in line for line in text_of(asking))
        await pilot.press("escape")
        await pilot.pause()
    assert (await asking.desk.get("acme-1")).attention.assigned_to is None


@pytest.mark.rule("H7", "H4")
async def test_an_assignment_is_bound_to_who_had_it_when_the_dialog_opened(asking: TestedDashboard) -> None:
    """Ben claimed it meanwhile: Ana is told, and it stays with Ben."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "A", AssignDialog)
        await asking.desk.assign("acme-1", "ben", by="person:ben", shown=None)
        await settled(pilot)
        await pilot.press(*"cleo")
        await pass_time(pilot, 1)
        await pilot.press("enter")
        await until(pilot, lambda: "acme-1 was given to ben" in told(asking))
    assert (await asking.desk.get("acme-1")).attention.assigned_to == "ben"


# ---- snoozing ----------------------------------------------------------------------------------------------------------------
@pytest.mark.rule("H7")
@pytest.mark.parametrize("keys", [["2", "pause", "enter"], ["down", "pause", "enter"]], ids=["digit", "enter"])
async def test_h_offers_usual_times_to_be_picked_and_h_again_wakes_it(asking: TestedDashboard, keys: list[str]) -> None:
    """30 minutes from 10:02:02, when the dialog opened."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        opened_at = asking.clock.wall()
        await opened(pilot, "H", SnoozeDialog)
        for key in keys:
            await (pass_time(pilot, 1) if key == "pause" else pilot.press(key))
        await until(pilot, lambda: wakes_at(asking) == opened_at + timedelta(minutes=30))
        await pilot.press("H")
        await until(pilot, lambda: wakes_at(asking) is None)


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("1m", timedelta(minutes=1)),
        ("45m", timedelta(minutes=45)),
        ("11:00", timedelta(minutes=57, seconds=57)),
        ("1h30m", timedelta(minutes=90)),
    ],
)
async def test_another_time_can_be_typed_in_the_dialog(asking: TestedDashboard, typed: str, after: timedelta) -> None:
    """A duration counts from when Enter takes it, at 10:02:03; 11:00 is 57 min 57 s later."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "H", SnoozeDialog)
        await pilot.press(*typed)
        await pilot.pause()
        assert any("It wakes at" in line for line in text_of(asking))
        await pass_time(pilot, 1)
        taken_at = asking.clock.wall()
        await pilot.press("enter")
        await until(pilot, lambda: wakes_at(asking) == taken_at + after)


@pytest.mark.rule("U8")
async def test_a_digit_that_was_queued_before_the_dialog_opened_picks_nothing(asking: TestedDashboard) -> None:
    """`H` and `1` in one burst open the dialog and no more."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("H")
        await until(pilot, lambda: isinstance(asking.screen, SnoozeDialog))
        await pilot.press("1", "enter")
        await pilot.pause()
        assert isinstance(asking.screen, SnoozeDialog)
    assert (await asking.desk.get("acme-1")).attention.snoozed_until is None


# ---- notes -------------------------------------------------------------------------------------------------------------------
async def test_a_note_has_lines_and_enter_saves_it(asking: TestedDashboard) -> None:
    """`ctrl+j` begins the second line; the card shows both."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "n", NoteDialog)
        await pilot.press(*"asked them", "ctrl+j", *"ticket 4711")
        await pass_time(pilot, 1)
        await pilot.press("enter")
        await until(pilot, lambda: notes(asking) == ["asked them\nticket 4711"])
        await until(pilot, lambda: any("notes     10:02:03 UTC ana: asked them" in line for line in text_of(asking)))
        assert any("          ticket 4711" in line for line in text_of(asking))


@pytest.mark.rule("U8")
async def test_pasted_lines_are_lines_of_the_note_and_save_nothing(asking: TestedDashboard) -> None:
    """As a paste, and as the keys of one: what comes after the first line never reaches the inbox behind."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "n", NoteDialog)
        await pilot.press(*"one", "enter", *"a1", "enter")
        area = asking.screen.query_one(NoteArea)
        area.post_message(events.Paste("two\nX"))
        await until(pilot, lambda: area.text == "one\na1\ntwo\nX")
        assert isinstance(asking.screen, NoteDialog)
        await pilot.press("escape")
        await pilot.pause()
    op = await asking.desk.get("acme-1")
    assert (op.attention.notes, op.attention.assigned_to, op.decided) == ((), None, ())


async def test_a_note_says_what_is_wrong_with_it_and_escape_gives_it_up(asking: TestedDashboard) -> None:
    """Blank, then too long by one character."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await opened(pilot, "n", NoteDialog)
        await pilot.press("enter")
        await pilot.pause()
        assert any("Write something first." in line for line in text_of(asking))
        asking.screen.query_one(NoteArea).text = "x" * 2_001
        await pilot.pause()
        await pass_time(pilot, 1)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert any("A note has at most 2,000 characters." in line for line in text_of(asking))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(asking.screen, NoteDialog))
        assert notes(asking) == []


# ---- the same acts from elsewhere --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("command", "is_done"),
    [
        ("claim", lambda app: has(app) == "ana"),
        ("assign ben", lambda app: has(app) == "ben"),
        ("snooze 2h", lambda app: wakes_at(app) is not None),
        ("note asked the provider", lambda app: notes(app) == ["asked the provider"]),
    ],
)
async def test_commands_do_what_the_keys_do(asking: TestedDashboard, command: str, is_done: object) -> None:
    """Typed behind `:` as a person would."""
    assert callable(is_done)
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("colon", *command, "enter")
        await until(pilot, lambda: bool(is_done(asking)))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("assign b\u202een", "That is no name"),
        ("snooze soon", "Write a duration such as 45m"),
        ("snooze 31d", "more than 30 days away"),
    ],
)
async def test_a_command_that_cannot_be_meant_says_how_it_is_written(asking: TestedDashboard, command: str, said: str) -> None:
    """And changes nothing."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        asking.run_command(command)
        await until(pilot, lambda: said in told(asking))
    assert (await asking.desk.get("acme-1")).attention == (await asking.desk.get("acme-2")).attention


async def test_the_mouse_reaches_them_through_the_footer(asking: TestedDashboard) -> None:
    """A click on `a Claim` claims."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        line = text_of(asking)[-1]
        await pilot.click(offset=(line.index("Claim"), WIDE[1] - 1))
        await until(pilot, lambda: has(asking) == "ana")


async def test_no_key_of_these_means_something_else_in_the_inbox(asking: TestedDashboard) -> None:
    """Each key leads to its own action there; `A` is the audit's on other screens."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        for focus in ("list", "card"):
            if focus == "card":
                await pilot.press("enter")
            bound = asking.screen.active_bindings
            assert {action.keys: bound[action.keys].binding.id for action in ATTENDING_ACTIONS} == {
                action.keys: action.action_id for action in ATTENDING_ACTIONS
            }


async def test_the_keys_can_be_changed_by_id_and_then_the_old_ones_mean_what_they_mean_elsewhere(
    asking: TestedDashboard,
) -> None:
    """With `item.assign` on another key, `A` leads to the audit from the inbox too."""
    asking.set_keymap(read_settings({"keys": {"item.claim": "ctrl+k", "item.assign": "ctrl+t"}}).keymap)
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("ctrl+k")
        await until(pilot, lambda: has(asking) == "ana")
        await pilot.press("A")
        await until(pilot, lambda: isinstance(asking.screen, AuditScreen))


async def test_the_footer_offers_them_only_where_there_is_an_item(asking: TestedDashboard) -> None:
    """Once both items are answered, there is nothing to claim."""
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        assert "Claim" in text_of(asking)[-1]
        for name in ("acme-1", "acme-2"):
            await asking.desk.decide(name, "extend", by="person:ben")
        await settled(pilot)
        await until(pilot, lambda: "Claim" not in text_of(asking)[-1])


@pytest.mark.rule("H7")
async def test_the_keys_work_in_the_detail_of_an_item_and_leave_that_of_another_alone(asking: TestedDashboard) -> None:
    """What is no item can only be noted; there `A` leads to the audit as everywhere else."""
    await asking.track("calm")
    async with running(asking, WIDE) as pilot:
        await settled(pilot)
        asking.open_operation("acme-2")
        await until(pilot, lambda: isinstance(asking.screen, DetailScreen))
        await pilot.press("a")
        await until(pilot, lambda: has(asking, "acme-2") == "ana")
        await until(pilot, lambda: any("with      ana, since" in line for line in text_of(asking)))
        await pilot.press("escape")
        asking.open_operation("calm")
        await until(pilot, lambda: isinstance(asking.screen, DetailScreen) and asking.screen.operation_id == "calm")
        await pilot.press("a")
        asking.run_command("snooze 2h")
        await until(pilot, lambda: "calm is not in the inbox: it needs nobody now." in told(asking))
        asking.run_command("note looks fine")
        await until(pilot, lambda: notes(asking, "calm") == ["looks fine"])
        await pilot.press("A")
        await until(pilot, lambda: isinstance(asking.screen, AuditScreen))
        assert has(asking, "calm") is None


@pytest.mark.rule("H11")
async def test_a_read_only_store_refuses_in_words(asking: TestedDashboard) -> None:
    """The core refuses, the toast says so."""
    store = asking.desk.store
    assert isinstance(store, MemoryStore)
    asking.desk.store = store.handle(is_read_only=True)
    async with running(asking, WIDE) as pilot:
        await at_inbox(pilot)
        await pilot.press("a")
        await until(pilot, lambda: any(each.severity == "error" for each in asking._notifications))
    assert (await asking.desk.get("acme-1")).attention.assigned_to is None
