"""How an operation stood at a moment: phase, plan, what made the plan, what was under way.

Only this file decides how that is read from the audit, or from the record for the present. `why.py` explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jobconsole.core.events import Kind
from jobconsole.core.operation import Operation
from jobconsole.core.telling.event_group import Event, moment
from jobconsole.core.vocabulary import ActionState, Phase

_ANSWERS = frozenset({Kind.CHECK_ANSWERED, Kind.SUBMIT_ANSWERED})


@dataclass(frozen=True, slots=True)
class Standing:
    """What held after some event. `cause` is the event that made the plan; without the audit it is not known."""

    phase: Phase = Phase.SUBMITTING
    planned_at: datetime | None = None
    source: str = ""
    used: int = 0
    allowed: int = 0
    deadline_at: datetime | None = None
    business_at: datetime | None = None  # the business deadline, where it still rules
    cause: Event | None = None
    token: int | None = None  # of the lease, while a request may be under way
    reserved_at: datetime | None = None
    action: str | None = None  # kind of an action whose request is under way
    action_at: datetime | None = None
    asked_since: datetime | None = None  # of an escalation
    reason: str = ""
    detail: str = ""
    ended_at: datetime | None = None

    @property
    def stops_at(self) -> datetime | None:
        """The earlier of the two deadlines: it stops requests (B14)."""
        return min((each for each in (self.deadline_at, self.business_at) if each is not None), default=None)


def standing_after(events: Sequence[Event]) -> Standing:
    """How the operation stood after the last of its `events`, from them alone."""
    standing = Standing()
    for event in events:
        standing = _after(standing, event)
    return standing


def standing_now(op: Operation, events: Sequence[Event]) -> Standing:
    """How the record stands; the audit only adds since when, and what made the plan."""
    told = standing_after(events)
    asked = op.escalation
    sending = next((kind for kind, each in op.open_actions.items() if each.state is ActionState.CLAIMED), None)
    return replace(
        told,
        phase=op.phase,
        planned_at=op.next_poll_at,
        source=op.delay_source.value if op.delay_source else "",
        used=op.status_requests_used,
        allowed=op.max_status_requests,
        deadline_at=op.deadline_at,
        business_at=None if op.is_business_deadline_waived else op.business_deadline_at,
        token=op.lease.token if op.lease else None,
        action=sending,
        asked_since=asked.since if asked else None,
        reason=asked.reason.value if asked else "",
        detail=asked.detail if asked else "",
        ended_at=op.ended_at,
    )


def _after(standing: Standing, event: Event) -> Standing:
    kind, at = event.get("kind"), moment(event["at"])
    planned = event.get("planned_at")
    planned_at, source = (moment(planned) if planned else None), str(event.get("delay_source") or "")
    has_moved = (planned_at, source) != (standing.planned_at, standing.source)
    stops = event.get("deadline_at")
    standing = replace(
        standing,
        phase=Phase(event.get("phase", standing.phase)),
        planned_at=planned_at,
        source=source,
        used=int(event.get("status_requests_used", 0)),
        allowed=int(event.get("max_status_requests", 0)),
        deadline_at=moment(stops) if stops else standing.deadline_at,
        business_at=_business_at(standing, event),
        cause=event if kind in _ANSWERS or has_moved else standing.cause,
        token=event.get("lease_token"),
    )
    if kind == Kind.CHECK_RESERVED:
        return replace(standing, reserved_at=at)
    if kind == Kind.ACTION_STARTED:
        return replace(standing, action=str(event.get("action")), action_at=at)
    if kind == Kind.ACTION_ENDED:
        return replace(standing, action=None, action_at=None)
    if kind == Kind.ESCALATED:
        reason, detail = str(event.get("reason", "")), str(event.get("detail") or "")
        return replace(standing, asked_since=at, reason=reason, detail=detail, action=None, action_at=None)
    if kind == Kind.CLOSED:
        return replace(standing, ended_at=at, action=None, action_at=None)
    return standing


def _business_at(standing: Standing, event: Event) -> datetime | None:
    """The first event writes it, and an extension past it waives it (B14)."""
    if event.get("past_business_deadline"):
        return None
    if event.get("kind") == Kind.SUBMITTED:
        for document in (event.get("set") or {}).values():
            if document and document.get("business_deadline_at"):
                return moment(document["business_deadline_at"])
    return standing.business_at
