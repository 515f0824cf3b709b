"""The one message about an inbox item: who takes on sending it, and what became of it (SPEC H7, H10, A6).

Only this file decides that. A claim is durable before the message leaves: of several processes one sends it, a crash between
the two loses it, and nothing sends it twice. One message may be about many items; all of them are claimed at once. None of it
touches phase, limits or options, so the revision stays (X7). `engine/notices.py` runs these.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.transitions import load
from jobconsole.core.deciding.escalation import item_since
from jobconsole.core.events import Draft, EventDraft, Kind
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import NoticeResult

LOST_AFTER = timedelta(minutes=2)
"""How long a message may be on its way: far longer than any sender waits for its channels."""

_LOST = "whoever sent it ended before it knew"
_LONGEST = 500  # characters of a detail


def claim_notices(items: Mapping[str, datetime], actor: str, channels: str) -> Command[tuple[Operation, ...]]:
    """Take on one message about these items, operation id → since when it is an item; the operations that could be claimed.

    Left out are those that somebody took on before, that need nobody any more, or about which another question has come up.
    """

    def command(view: View) -> Plan[tuple[Operation, ...]] | Refusal:
        events: list[EventDraft] = []
        claimed = []
        for operation_id, since in items.items():
            op = load(view, operation_id)
            if op is None or item_since(op) != since or op.attention.notified_at is not None:
                continue
            draft = Draft(actor, op)
            attention = replace(op.attention, notified_at=view.now.wall, notice_result=None)
            draft.add(Kind.ITEM_CHANGED, replace(op, attention=attention), change="notified", channels=channels)
            events += draft.events
            claimed.append(draft.op)
        return Plan(tuple(events), tuple(claimed))

    return command


def record_notices(
    claimed: Mapping[str, datetime], actor: str, result: NoticeResult, channels: str = "", detail: str = ""
) -> Command[tuple[Operation, ...]]:
    """Write down what became of one message; `claimed`: operation id → when it was claimed. The operations that were changed.

    It stands in the audit also of an item that was answered meanwhile: that nobody was reached is not a person's silence (H10).
    An end that is known replaces an unknown one, never the other way round.
    """

    def command(view: View) -> Plan[tuple[Operation, ...]] | Refusal:
        events: list[EventDraft] = []
        changed = []
        for operation_id, claimed_at in claimed.items():
            op = load(view, operation_id)
            if op is None:
                continue
            is_same = op.attention.notified_at == claimed_at
            known = op.attention.notice_result if is_same else None
            if known not in (None, NoticeResult.UNKNOWN):
                continue
            if result is NoticeResult.UNKNOWN and (known is not None or not is_same):
                continue
            attention = replace(op.attention, notice_result=result) if is_same else op.attention
            draft = Draft(actor, op)
            said = detail[:_LONGEST] or None
            told = replace(op, attention=attention)
            draft.add(Kind.ITEM_CHANGED, told, change=result.value, channels=channels or None, detail=said)
            events += draft.events
            changed.append(draft.op)
        return Plan(tuple(events), tuple(changed))

    return command


def record_lost(op: Operation, actor: str) -> Command[tuple[Operation, ...]]:
    """Say that nobody knows what became of the message that somebody took on long ago (`lost_at`)."""
    claimed_at = op.attention.notified_at
    claimed = {op.operation_id: claimed_at} if claimed_at is not None else {}
    return record_notices(claimed, actor, NoticeResult.UNKNOWN, detail=_LOST)


def lost_at(op: Operation) -> datetime | None:
    """When a message that is on its way counts as lost; None where none is."""
    if op.attention.notified_at is None or op.attention.notice_result is not None:
        return None
    return op.attention.notified_at + LOST_AFTER
