"""Who looks after an inbox item, until when it rests, and what was noted: none of it decides anything (H7).

The operation was tracked at 10:00:00 and stopped by its deadline at 10:41:00.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from jobconsole.core.command import Command, Refusal, Scope
from jobconsole.core.commands.attending import assign, note, snooze
from jobconsole.core.operation import Operation
from jobconsole.core.telling.story import story
from jobconsole.core.vocabulary import Phase
from jobconsole.errors import InvalidValue
from tests.core.desk import Desk
from tests.core.sample_facts import at

MINUTES = timedelta(minutes=1)
ANA, BEN = "person:ana", "person:ben"


def asking() -> Desk:
    """A desk whose operation needs a person."""
    desk = Desk()
    desk.track()
    desk.clock.advance(41 * MINUTES)
    desk.reserve()
    assert desk.op().phase is Phase.ESCALATED
    return desk


def run(desk: Desk, command: Command[Operation]) -> Operation | Refusal:
    return desk.run(Scope(operations=("op-1",)), command)


def done(desk: Desk, command: Command[Operation]) -> Operation:
    return desk.told(Scope(operations=("op-1",)), command)


def told(desk: Desk) -> list[str]:
    """The story's lines about the item."""
    return [line for line in story(desk.events()) if "escalated" not in line][1:]


@pytest.mark.rule("H7", "X7")
def test_an_item_is_given_to_a_person_and_back_and_the_revision_stays() -> None:
    desk = asking()
    before = desk.op().revision
    assert done(desk, assign("op-1", ANA, "ana", shown=None)).attention.assigned_to == "ana"
    assert done(desk, assign("op-1", ANA, "ben", shown="ana")).attention.assigned_at == at(0) + 41 * MINUTES
    assert done(desk, assign("op-1", BEN, None, shown="ben")).attention.assigned_to is None
    assert desk.op().revision == before
    assert told(desk) == [
        "10:41:00 ana takes care of it",
        "10:41:00 ana gave it to ben",
        "10:41:00 ben gave it back, it was with ben",
    ]


@pytest.mark.rule("H7", "H4")
def test_of_two_who_claim_it_at_once_the_second_is_told_who_was_faster() -> None:
    desk = asking()
    done(desk, assign("op-1", ANA, "ana", shown=None))
    desk.clock.advance(3)
    refused = run(desk, assign("op-1", BEN, "ben", shown=None))
    assert isinstance(refused, Refusal)
    assert (refused.why, refused.text) == ("stale", "op-1 was given to ana at 10:41:00 UTC, 3s ago; look again")
    assert desk.op().attention.assigned_to == "ana"


@pytest.mark.rule("H7", "H4")
def test_who_takes_over_from_somebody_that_gave_it_back_meanwhile_is_told_so() -> None:
    desk = asking()
    refused = run(desk, assign("op-1", BEN, "ben", shown="ana"))
    assert isinstance(refused, Refusal)
    assert refused.text == "op-1 was given back; look again"


@pytest.mark.rule("H7")
@pytest.mark.parametrize("again", ["ana", " ana "])
def test_a_second_claim_by_the_same_person_writes_nothing(again: str) -> None:
    desk = asking()
    done(desk, assign("op-1", ANA, "ana", shown=None))
    written = len(desk.events())
    done(desk, assign("op-1", ANA, again, shown=None))
    assert len(desk.events()) == written


@pytest.mark.rule("H7", "H10")
def test_a_snooze_ends_by_itself_and_decides_nothing() -> None:
    desk = asking()
    op = done(desk, snooze("op-1", ANA, at(0) + 71 * MINUTES))
    assert op.attention.snoozed_until == at(0) + 71 * MINUTES
    desk.clock.advance(60 * MINUTES)
    assert (desk.op().phase, desk.op().due_at) == (Phase.ESCALATED, None)
    assert done(desk, snooze("op-1", ANA, None)).attention.snoozed_until is None
    assert told(desk) == ["10:41:00 ana snoozed it until 11:11:00", "11:41:00 ana ended its snooze"]


@pytest.mark.rule("H7")
@pytest.mark.parametrize("minutes", [0, -1, 30 * 24 * 60 + 1])
def test_a_snooze_lies_within_the_next_30_days(minutes: int) -> None:
    desk = asking()
    refused = run(desk, snooze("op-1", ANA, at(0) + (41 + minutes) * MINUTES))
    assert isinstance(refused, Refusal)
    assert refused.why == "over_bound"


@pytest.mark.rule("H7")
def test_the_assignment_and_the_notes_stay_after_a_decision_and_the_next_item_starts_awake() -> None:
    desk = asking()
    done(desk, assign("op-1", ANA, "ana", shown=None))
    done(desk, note("op-1", ANA, "  still running, check later "))
    done(desk, snooze("op-1", ANA, at(0) + 71 * MINUTES))
    attention = desk.chosen("extend").attention
    assert (attention.assigned_to, attention.snoozed_until) == ("ana", None)
    assert [(each.by, each.text) for each in attention.notes] == [("ana", "still running, check later")]


@pytest.mark.rule("H7")
def test_the_last_twenty_notes_are_kept_and_all_stand_in_the_audit() -> None:
    desk = asking()
    for number in range(23):
        done(desk, note("op-1", ANA, f"note {number}"))
    assert [each.text for each in desk.op().attention.notes] == [f"note {number}" for number in range(3, 23)]
    assert sum("noted: note" in line for line in told(desk)) == 23


@pytest.mark.rule("H6", "G9")
@pytest.mark.parametrize("actor", ["agent:codex/1", "worker:w", "person:", "push:hmac", "person:agent:x", "person:a\ud800"])
def test_only_a_person_changes_an_item(actor: str) -> None:
    desk = asking()
    for command in (assign("op-1", actor, "x", shown=None), snooze("op-1", actor, None), note("op-1", actor, "x")):
        refused = run(desk, command)
        assert isinstance(refused, Refusal)
        assert refused.why == "not_a_person"


@pytest.mark.rule("H7")
def test_what_needs_nobody_is_given_to_nobody_but_may_be_noted() -> None:
    desk = Desk()
    desk.track()
    for command in (assign("op-1", ANA, "ana", shown=None), snooze("op-1", ANA, at(600))):
        refused = run(desk, command)
        assert isinstance(refused, Refusal)
        assert refused.why == "not_in_inbox"
    assert done(desk, note("op-1", ANA, "asked support")).attention.notes[0].text == "asked support"


@pytest.mark.parametrize("text", ["", "   ", "x" * 2_001])
def test_a_note_has_1_to_2000_characters(text: str) -> None:
    refused = run(asking(), note("op-1", ANA, text))
    assert isinstance(refused, Refusal)
    assert refused.why == "text_needed"


@pytest.mark.rule("H7")
@pytest.mark.parametrize("nobody", [None, "nobody", "Nobody"])
def test_what_is_given_to_nobody_is_given_back(nobody: str | None) -> None:
    desk = asking()
    done(desk, assign("op-1", ANA, "ana", shown=None))
    assert done(desk, assign("op-1", ANA, nobody, shown="ana")).attention.assigned_to is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: snooze("op-1", ANA, datetime(2026, 11, 29, 12)), "the end of a snooze has no time zone.*give a time zone"),  # noqa: DTZ001
        (lambda: snooze("op-1", ANA, wrong("2h")), "the end of a snooze is a datetime, not str"),
        (lambda: note("op-1", ANA, wrong(5)), "a note is a text, not int"),
        (lambda: assign("op-1", ANA, wrong(5), shown=None), "a person's name is a text, not int"),
        (lambda: assign("op-1", ANA, "agent:x", shown=None), "another kind of actor"),
        (lambda: assign("op-1", ANA, "a\ud800", shown=None), "1-80 printable characters"),
        (lambda: assign("op-1", ANA, "x" * 81, shown=None), "1-80 printable characters"),
    ],
)
def test_a_value_of_another_kind_is_refused_before_anything_is_asked(make: Any, said: str) -> None:
    with pytest.raises(InvalidValue, match=said):
        make()


def wrong(value: Any) -> Any:
    """What the type checker would refuse and a notebook does not."""
    return value
