"""Plans made by a wall clock that was set back since: the delay counts anew instead of lasting for days (B2, B6).

Only this file decides which plans are moved. `engine/worker.py` asks when it starts and when it sees the clock go back. Bounds
that people know as times of day stay: deadlines, a pause, a provider's minimum (which no clock of ours may shorten, B2).
"""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace

from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.transitions import load
from jobconsole.core.events import Draft, Kind
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import CLOCK_SET_BACK, DelaySource, Phase

COUNTED_FROM_ANSWER = frozenset(
    {
        DelaySource.LOCAL_BACKOFF,
        DelaySource.ADAPTIVE,
        DelaySource.PROVIDER_POLL_HINT,
        DelaySource.NOT_FOUND_GRACE,
        DelaySource.MIN_INTERVAL,
    }
)
"""Sources of plans that are a delay after the last answer."""


def anew_at(op: Operation, now: datetime) -> datetime | None:
    """When the check comes if its whole delay begins now; None where the plan stands.

    That is where the last answer came by a clock ahead of `now` by the delay or more: any less does not double the wait. The
    plan so moved lies before that answer, and is never moved again.
    """
    answered_at, planned_at = op.last_http_at, op.next_poll_at
    if op.phase is not Phase.WAITING or op.lease is not None or op.delay_source not in COUNTED_FROM_ANSWER:
        return None
    if answered_at is None or planned_at is None:
        return None
    delay = planned_at - answered_at
    return now + delay if answered_at < planned_at and now + delay <= answered_at else None


def plan_anew(operation_id: str, owner: str) -> Command[Operation | None]:
    """Move the plan as `anew_at` says, once; nothing is sent. `owner` is worker:ID."""

    def command(view: View) -> Plan[Operation | None] | Refusal:
        op = load(view, operation_id)
        at = anew_at(op, view.now.wall) if op is not None else None
        if op is None or at is None:
            return Plan((), op)
        draft = Draft(owner, op)
        draft.add(Kind.CHECK_PLANNED, replace(op, next_poll_at=at), reason=CLOCK_SET_BACK)
        return Plan(tuple(draft.events), draft.op)

    return command
