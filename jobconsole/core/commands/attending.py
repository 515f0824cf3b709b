"""Who looks after an inbox item, until when it rests, and what people note about it (SPEC H7).

Only this file decides when such a change is taken. None of it touches phase, limits or options, so the revision stays (X7)
and a choice that somebody is about to make remains good; each is one `item_changed` in the audit. The engine's desk makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from msgspec.structs import replace

from jobconsole.core.actors import is_person, person_or_nobody
from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.transitions import load
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.durations import passed_text
from jobconsole.core.events import Draft, Kind
from jobconsole.core.moments import aware
from jobconsole.core.operation import Attention, Note, Operation
from jobconsole.errors import InvalidValue

KEPT_NOTES = 20
LONGEST_NOTE = 2_000  # characters
LONGEST_SNOOZE = timedelta(days=30)

Changed: TypeAlias = tuple[Attention, dict[str, Any]]  # and what its event says; nothing to say: nothing changed


def assign(operation_id: str, actor: str, to: str | None, *, shown: str | None) -> Command[Operation]:
    """Give the item to a person, or to nobody with None or `nobody`. Raises `InvalidValue` where that is no person's name.

    `shown` is who had it on the screen: of two who claim it at once, the second is told who was faster.
    """
    name = person_or_nobody(to)

    def change(op: Operation, view: View) -> Changed | Refusal:
        has = op.attention.assigned_to
        if has == name:
            return op.attention, {}
        if has != shown:
            return Refusal("stale", f"{op.operation_id} was {_given_to(op.attention, view.now.wall)}; look again")
        given = replace(op.attention, assigned_to=name, assigned_at=view.now.wall if name else None)
        return given, {"change": "assigned", "to": name, "before": has}

    return _changing(operation_id, actor, change)


def _given_to(has: Attention, now: datetime) -> str:
    """Who was faster, when, and how long ago."""
    if has.assigned_to is None:
        return "given back"
    if has.assigned_at is None:
        return f"given to {has.assigned_to}"
    return f"given to {has.assigned_to} at {has.assigned_at:%H:%M:%S} UTC, {passed_text(now - has.assigned_at)} ago"


def snooze(operation_id: str, actor: str, until: datetime | None) -> Command[Operation]:
    """Let the item rest until a time, or wake it. Nothing is decided when that time comes: the item stands up again (H10).

    Raises `InvalidValue` for a time without a zone.
    """
    if until is not None:
        until = aware(until, "the end of a snooze")

    def change(op: Operation, view: View) -> Changed | Refusal:
        now = view.now.wall
        if until is not None and not now < until <= now + LONGEST_SNOOZE:
            return Refusal("over_bound", f"snooze until a time within the next {LONGEST_SNOOZE.days} days")
        if op.attention.snoozed_until == until:
            return op.attention, {}
        return replace(op.attention, snoozed_until=until), {"change": "snoozed" if until else "woken", "until": until}

    return _changing(operation_id, actor, change)


def note(operation_id: str, actor: str, text: str) -> Command[Operation]:
    """Write something down about the operation, in the inbox or not. Raises `InvalidValue` for what is no text."""
    if not isinstance(text, str):
        raise InvalidValue(f"a note is a text, not {type(text).__name__}")
    said = text.strip()

    def change(op: Operation, view: View) -> Changed | Refusal:
        if not 0 < len(said) <= LONGEST_NOTE:
            return Refusal("text_needed", f"a note has 1 to {LONGEST_NOTE:,} characters")
        written = Note(by=actor.removeprefix("person:"), at=view.now.wall, text=said)
        notes = (*op.attention.notes, written)[-KEPT_NOTES:]
        return replace(op.attention, notes=notes), {"change": "noted", "text": said}

    return _changing(operation_id, actor, change, needs_item=False)


def _changing(
    operation_id: str,
    actor: str,
    change: Callable[[Operation, View], Changed | Refusal],
    *,
    needs_item: bool = True,
) -> Command[Operation]:
    def command(view: View) -> Plan[Operation] | Refusal:
        op = load(view, operation_id)
        if op is None:
            return Refusal("unknown_operation", f"no operation {operation_id}")
        if not is_person(actor):
            return Refusal("not_a_person", "the inbox is people's; an agent may ask")
        if needs_item and item_since(op) is None:
            return Refusal("not_in_inbox", f"{operation_id} is not in the inbox: it needs nobody now")
        changed = change(op, view)
        if isinstance(changed, Refusal):
            return changed
        attention, fields = changed
        if not fields:
            return Plan((), op)
        draft = Draft(actor, op)
        draft.add(Kind.ITEM_CHANGED, replace(op, attention=attention), **fields)
        return Plan(tuple(draft.events), draft.op)

    return command
