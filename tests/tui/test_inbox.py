"""The inbox acts on what was shown, tells what happened meanwhile, and is never empty without a sentence."""

from __future__ import annotations

from datetime import timedelta

import pytest
from textual.pilot import Pilot

from jobconsole.console import Budget
from jobconsole.core.operation import Decided
from jobconsole.core.vocabulary import Phase
from jobconsole.tui.screens.inbox import InboxScreen
from jobconsole.tui.widgets.inbox_card import InboxCard, answered_text
from jobconsole.tui.widgets.line_list import LineList
from tests.core.sample_facts import at
from tests.tui.conftest import TestedDashboard, pass_time, running, settled, text_of, until


async def ask_about(app: TestedDashboard, name: str) -> None:
    """Let an operation spend its one request, so that a person is asked."""
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
        assert not any("1–9 answer" in line for line in text_of(dashboard))
        assert screen.list.cursor == "acme-1"
        await pilot.press("down")
        await pilot.pause()
        assert screen.list.cursor == "acme-2"
        await until(pilot, lambda: all(entry.key != "acme-1" for entry in screen.list.entries))


@pytest.mark.rule("H4")
@pytest.mark.parametrize(
    ("option", "effect", "told"),
    [
        ("cancel", "cancel at provider: stops billing", "cancel at provider: stops billing"),
        ("extend", "deadline 10:40:00 -> 10:55:00 UTC", "extend. deadline 10:40:00 -> 10:55:00 UTC"),
    ],
)
def test_an_answer_whose_effect_begins_with_its_name_says_it_once(option: str, effect: str, told: str) -> None:
    done = Decided(decision_id="dec_1", option=option, by="ben", at=at(588), revision=3, effect=effect)
    assert answered_text(done, at(600)) == f"Answered by ben 12s ago: {told}"


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


def rows_of(app: TestedDashboard) -> list[str]:
    """Keys of the list, headings included."""
    screen = app.screen
    assert isinstance(screen, InboxScreen)
    return [entry.key for entry in screen.list.entries]


@pytest.mark.rule("H7")
async def test_what_is_snoozed_stands_below_and_stands_up_again_at_its_second(dashboard: TestedDashboard) -> None:
    """acme-1 rests until 10:32:00; until then only acme-2 is counted in the header."""
    await ask_about(dashboard, "acme-1")
    await ask_about(dashboard, "acme-2")
    await dashboard.desk.snooze("acme-1", dashboard.clock.wall() + timedelta(minutes=30), by="person:ana")
    async with running(dashboard, (140, 40)) as pilot:
        await settled(pilot)
        table = text_of(dashboard)
        assert next(("needs you" in line, "snoozed" in line) for line in table if "acme-1 export" in line) == (False, True)
        await open_inbox(pilot)
        assert rows_of(dashboard) == ["heading-decision", "acme-2", "heading-snoozed", "acme-1"]
        shown = text_of(dashboard)
        assert any("SNOOZED  1" in line for line in shown)
        assert any("acme-1 export" in line and "until 10:32:00 UTC" in line for line in shown)
        assert "Inbox 1!" in shown[0]
        await pass_time(pilot, 30 * 60 - 1)
        assert rows_of(dashboard) == ["heading-decision", "acme-2", "heading-snoozed", "acme-1"]
        await pass_time(pilot, 1)
        assert rows_of(dashboard) == ["heading-decision", "acme-1", "acme-2"]
        assert "Inbox 2!" in text_of(dashboard)[0]


@pytest.mark.rule("H7", "U6")
async def test_an_inbox_in_which_all_rests_says_so_and_when_the_next_one_wakes(dashboard: TestedDashboard) -> None:
    """Two rest, until 10:32:00 and 12:02:00; Ben answered a third one at 10:02:00."""
    for name in ("acme-1", "acme-2"):
        await ask_about(dashboard, name)
    for name, minutes in (("acme-1", 120), ("acme-2", 30)):
        await dashboard.desk.snooze(name, dashboard.clock.wall() + timedelta(minutes=minutes), by="person:ana")
    await dashboard.track("acme-3")
    await dashboard.desk.decide("acme-3", "extend", by="person:ben")
    async with running(dashboard, (160, 40)) as pilot:
        await open_inbox(pilot)
        shown = " ".join(" ".join(line[:66] for line in text_of(dashboard)).split())
        assert "Nothing needs you. 3 operations watched, last answer 10:02:00 UTC by ben." in shown
        assert "2 snoozed, the next wakes at 10:32:00 UTC." in shown
        assert rows_of(dashboard) == ["nothing", "heading-snoozed", "acme-2", "acme-1"]
        assert " Inbox  Audit " in text_of(dashboard)[0]


@pytest.mark.rule("H7", "U4")
@pytest.mark.parametrize(("minutes", "mark"), [(14, None), (16, "over 15 min"), (61, "over 1 h")])
async def test_an_item_that_waits_for_too_long_says_so_in_words(
    dashboard: TestedDashboard, minutes: int, mark: str | None
) -> None:
    """In the list and on the card, with whatever colours."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        await pass_time(pilot, minutes * 60)
        shown = text_of(dashboard)
        assert any("over" in line for line in shown) is (mark is not None)
        if mark is not None:
            assert any(f"{mark} " in line[:59] for line in shown)
            assert any(f"{mark} without an answer" in line for line in shown)


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("mine", ["acme-1"]),
        ("!mine", ["acme-2", "acme-3"]),
        ("with:ben", ["acme-2"]),
        ("with:nobody", ["acme-3"]),
        ("snoozed", ["acme-3"]),
        ("!snoozed", ["acme-1", "acme-2"]),
        ("export with:ana", ["acme-1"]),
        ("every status request", ["acme-1", "acme-2", "acme-3"]),
        ('"mine"', []),
    ],
)
async def test_the_filter_knows_whose_an_item_is_and_what_rests(
    dashboard: TestedDashboard, typed: str, shown: list[str]
) -> None:
    """Ana has the first one, Ben the second, and nobody the third, which rests. What is quoted is a text as any other."""
    for name in ("acme-1", "acme-2", "acme-3"):
        await ask_about(dashboard, name)
    await dashboard.desk.assign("acme-1", "ana", by="person:ana", shown=None)
    await dashboard.desk.assign("acme-2", "ben", by="person:ana", shown=None)
    await dashboard.desk.snooze("acme-3", dashboard.clock.wall() + timedelta(hours=2), by="person:ana")
    async with running(dashboard, (140, 40)) as pilot:
        await open_inbox(pilot)
        await pilot.press("slash", *typed, "enter")
        await pilot.pause()
        assert [key for key in rows_of(dashboard) if key.startswith("acme")] == shown
        assert any("No item matches" in line for line in text_of(dashboard)) is (not shown)


@pytest.mark.rule("U8")
async def test_what_leaves_the_filter_stays_under_the_cursor_until_it_is_left(dashboard: TestedDashboard) -> None:
    """Among what is mine, the first one is given back: the next key still means it."""
    for name in ("acme-1", "acme-2"):
        await ask_about(dashboard, name)
        await dashboard.desk.assign(name, "ana", by="person:ana", shown=None)
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await pilot.press("slash", *"mine", "enter")
        await pilot.press("a")
        await until(pilot, lambda: dashboard.feed.operations["acme-1"].attention.assigned_to is None)
        await pass_time(pilot, 1)
        assert (screen.list.cursor, screen.card.operation_id) == ("acme-1", "acme-1")
        assert not any("answered" in line for line in text_of(dashboard))
        await pilot.press("down")
        await until(pilot, lambda: rows_of(dashboard) == ["heading-decision", "acme-2"])


@pytest.mark.rule("H4")
async def test_a_row_that_was_answered_says_who_answered_what(dashboard: TestedDashboard) -> None:
    """Not only that it was."""
    await ask_about(dashboard, "acme-1")
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        await dashboard.desk.decide("acme-1", "extend", by="person:ben")
        await settled(pilot)
        await until(pilot, lambda: any("answered by ben: extend" in line for line in text_of(dashboard)))


@pytest.mark.rule("H8")
async def test_an_option_without_purpose_is_marked_on_the_card_and_may_be_chosen(dashboard: TestedDashboard) -> None:
    """The business deadline was 10:30:00; an extension past it is still one key."""
    due = dashboard.clock.wall() + timedelta(minutes=30)
    await dashboard.track("acme-1", budget=Budget(deadline="2h", status_requests=1, business_deadline_at=due))
    dashboard.clock.advance(60)
    await dashboard.check("acme-1")
    dashboard.clock.advance(30 * 60)
    async with running(dashboard, (140, 40)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        shown = " ".join(" ".join(line[60:].strip(" │") for line in text_of(dashboard)).split())
        assert "serves no purpose any more: the business deadline 10:30:00 UTC has passed" in shown
        await pilot.press("enter")
        await pass_time(pilot, 1)
        await pilot.press("1")
        await until(pilot, lambda: dashboard.feed.operations["acme-1"].granted.times == 1)


@pytest.mark.rule("H7", "U3")
async def test_notes_on_the_card_are_inert_bounded_and_the_newest_is_last(dashboard: TestedDashboard) -> None:
    """Six notes, of which four are shown; markup and escapes are text."""
    await ask_about(dashboard, "acme-1")
    for number in range(1, 6):
        await dashboard.desk.note("acme-1", f"note {number}", by="person:ben")
    await dashboard.desk.note("acme-1", "[red]\x1b[2J" + "\nmore" * 9, by="person:ana")
    async with running(dashboard, (140, 50)) as pilot:
        screen = await open_inbox(pilot)
        await card_is_read(pilot, screen)
        shown = [line[60:].rstrip(" │") for line in text_of(dashboard)]
        first = next(place for place, line in enumerate(shown) if "notes     2 older in the story" in line)
        assert [line.split(": ")[-1].strip() for line in shown[first + 1 : first + 4]] == ["note 3", "note 4", "note 5"]
        assert shown[first + 4].endswith("ana: [red]\\x1b[2J")
        assert shown[first + 8].strip() == "… 6 more rows in the story"


async def test_its_first_picture_is_laid_out_for_the_terminal_as_it_is(dashboard: TestedDashboard) -> None:
    """Beside each other at once: rows for the whole width would stand cut in half of it until the next second."""
    widths: list[int] = []

    class Observed(InboxScreen):
        def on_line_list_resized(self, message: LineList.Resized) -> None:
            if message.lines.id == "inbox-list":
                widths.append(message.lines.columns)

    async with running(dashboard, (120, 36)) as pilot:
        await dashboard.push_screen(Observed())
        await until(pilot, lambda: bool(widths))
        await pilot.pause()
        assert widths == [49]  # 42 % of 120, without the scrollbar
