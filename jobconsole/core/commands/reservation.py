"""Taking the right to send one request: lease, fencing token, every condition and the counter in one step (STORE 4).

Only this file decides whether a status request may be prepared. `engine/poll.py` asks before each request, and gives the lease
back when it did not send. Also here: `inherit_denial`, the escalation of an account's 401 by its next held operation (B11).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec.structs import replace

from jobconsole.core.command import Command, Moment, Plan, Refusal, View
from jobconsole.core.commands.transitions import (
    Sets,
    account_of,
    account_set,
    answered,
    deny_account,
    escalate,
    load,
    may_be_submitted,
    on_operation,
    superseded,
)
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, blocked, carrier, charged, is_denied
from jobconsole.core.denial import is_probe, may_inherit
from jobconsole.core.events import Draft, Kind
from jobconsole.core.looks import is_submission_in_flight, stops_at
from jobconsole.core.operation import Lease, NotBefore, Operation, deadline
from jobconsole.core.vocabulary import DelaySource, Delivery, Phase, Reason


@dataclass(frozen=True, slots=True)
class Reserve:
    """What a worker asks for. `token` continues its own lease: a confirm, a redirect hop, a repeat (each is counted)."""

    operation_id: str
    contract: Contract
    owner: str  # worker:ID
    lease: timedelta
    purpose: str = "status"
    token: int | None = None


@dataclass(frozen=True, slots=True)
class Reserved:
    """One request may leave through the gate, under this token."""

    op: Operation
    token: int
    until: datetime  # the deadline, or the later end of a permit


@dataclass(frozen=True, slots=True)
class Deferred:
    """Nothing may be sent now; `until` is when to look again (None: when something changes)."""

    why: str
    until: datetime | None = None
    account_wide: bool = False


@dataclass(frozen=True, slots=True)
class Stopped:
    """A bound was reached: the operation is escalated."""

    op: Operation


Reservation: TypeAlias = Reserved | Deferred | Stopped


def reserve(ask: Reserve) -> Command[Reservation]:
    """One transaction on fresh state: the lease, every condition, the counter, the account's token (B2, B3, S1)."""
    begin = _continued if ask.token is not None else _started
    return on_operation(ask.operation_id, ask.owner, lambda view, draft: begin(ask, view, draft))


def book_deadline(ask: Reserve) -> Command[Stopped | None]:
    """Escalate an operation whose deadline passed while nobody looked; reserves nothing, whatever happened meanwhile (X19)."""

    def command(view: View) -> Plan[Stopped | None] | Refusal:
        op = load(view, ask.operation_id)
        if op is None or op.phase is Phase.ESCALATED or op.permit is not None or view.now.wall < deadline(op):
            return Plan((), None)
        draft = Draft(ask.owner, op)
        got = _started(ask, view, draft)
        return Plan(tuple(draft.events), got if isinstance(got, Stopped) else None)

    return command


def lease_has_ended(lease: Lease, view: View) -> bool:
    """By the boot clock of one boot; another boot or a dead owner ends it too (STORE 4, clock of a lease)."""
    return lease.boot != view.now.boot or view.now.up >= lease.until_up or view.is_dead(lease.owner)


def slots_in_use(acc: Account, view: View) -> int:
    """The account's live leases, looked at only where the contract bounds them: they are as many as there are requests."""
    return view.live_leases(acc.account_key) if acc.max_concurrent is not None else 0


def not_before_has_passed(minimum: NotBefore | None, now: Moment) -> bool:
    """By wall and boot clock, so that a jumped wall clock never shortens a provider's wait (B2)."""
    if minimum is None:
        return True
    return now.wall >= minimum.at and (minimum.boot != now.boot or now.up >= minimum.up)


def _started(ask: Reserve, view: View, draft: Draft) -> Reservation:
    op, now = draft.op, view.now
    if op.phase.is_terminal or op.phase is Phase.SUBMITTING:
        return _submission_deadline(ask, view, draft)
    if op.lease is not None:
        if not lease_has_ended(op.lease, view):
            return Deferred("leased", op.lease.until_at)
        op = lose_lease(draft)
    permit = op.permit
    if permit is not None and (permit.checks <= 0 or now.wall >= permit.until_at):
        return _permit_over(ask, view, draft)
    if op.phase is Phase.ESCALATED and permit is None:
        return Deferred("escalated")
    until = stops_at(op)
    if now.wall >= until:
        name = "business deadline" if deadline(op) != op.deadline_at else "deadline"
        return Stopped(escalate(draft, op, Reason.DEADLINE_EXCEEDED, f"{name} reached", ask.contract, now))
    if op.next_poll_at is None or now.wall < op.next_poll_at:
        return Deferred("not_due", op.next_poll_at)
    if not not_before_has_passed(op.not_before, now):
        assert op.not_before is not None
        return _replanned(draft, Deferred("provider_wait", max(op.not_before.at, _by_boot_clock(op.not_before, now))))
    if _needs_approval(ask.contract) and (permit is None or permit.purpose == "cancel"):
        return Stopped(escalate(draft, op, Reason.APPROVAL_REQUIRED, "each check needs an approval", ask.contract, now))
    acc = account_of(view, op, ask.contract)
    stop = blocked(acc, now, slots_in_use(acc, view), op.credential, is_probe=is_probe(op))
    if stop is not None:
        return _replanned(draft, Deferred(stop.source, stop.until, account_wide=True))
    if op.status_requests_used >= op.max_status_requests:
        if permit is None:
            return Stopped(escalate(draft, op, Reason.REQUEST_BUDGET_EXHAUSTED, "", ask.contract, now))
        op = _granted_one(op)
    return _take(ask, view, draft, op, acc, until)


def _take(ask: Reserve, view: View, draft: Draft, op: Operation, acc: Account, until: datetime) -> Reserved:
    now = view.now
    token = draft.op.op_seq + 1
    confirms = op.is_success_unconfirmed and ask.contract.confirm is not None  # no request was left when it was found
    purpose = "confirm" if confirms else ask.purpose
    lease = Lease(
        token=token,
        owner=ask.owner,
        until_up=now.up + int(ask.lease / timedelta(milliseconds=1)),
        boot=now.boot,
        until_at=now.wall + ask.lease,
        purpose=purpose,
    )
    permit = replace(op.permit, checks=op.permit.checks - 1) if op.permit else None
    op = replace(op, lease=lease, status_requests_used=op.status_requests_used + 1, permit=permit)
    paid = charged(acc, now)
    draft.add(
        Kind.CHECK_RESERVED,
        op,
        also=account_set(view, paid),
        purpose=purpose,
        permit=permit.purpose if permit else None,
        account_level=paid.level if paid.rate is not None else None,
    )
    return Reserved(draft.op, token, until)


def _continued(ask: Reserve, view: View, draft: Draft) -> Reservation:
    """One more request under the same token: counted, and every condition is checked again (STORE 4)."""
    op, now, before = draft.op, view.now, draft.op.lease
    if before is None or before.token != ask.token or op.phase.is_terminal or lease_has_ended(before, view):
        return Deferred("lease_lost")  # also where nobody took it yet: an ended lease is never renewed
    until = stops_at(op)
    if now.wall >= until:
        return Deferred("deadline")
    if op.status_requests_used >= op.max_status_requests:
        if op.permit is None or ask.purpose != "confirm":
            return Deferred("request_budget")
        op = _granted_one(op)  # the permitted look found a success: confirming it belongs to it (X8, X24)
    permit = op.permit
    if _needs_approval(ask.contract):  # one approval is one request: no repeat, no redirect (X15)
        if permit is None or permit.checks <= 0 or ask.purpose != "confirm":
            return Deferred("approval_required")
        permit = replace(permit, checks=permit.checks - 1)
    acc = account_of(view, op, ask.contract)
    stop = blocked(acc, now, 0, op.credential, is_probe=is_probe(op))
    if stop is not None:
        return Deferred(stop.source, stop.until, account_wide=True)
    lease = replace(
        before,
        until_up=now.up + int(ask.lease / timedelta(milliseconds=1)),
        until_at=now.wall + ask.lease,
        purpose=ask.purpose,
        requests=before.requests + 1,
    )
    op = replace(op, lease=lease, status_requests_used=op.status_requests_used + 1, permit=permit)
    draft.add(Kind.CHECK_RESERVED, op, also=account_set(view, charged(acc, now)), purpose=ask.purpose)
    return Reserved(draft.op, lease.token, until)


def _submission_deadline(ask: Reserve, view: View, draft: Draft) -> Reservation:
    """A submission that never went out is stopped by the deadline too; one in flight is left to its owner."""
    op = draft.op
    if op.phase.is_terminal:
        return Deferred("ended")
    if is_submission_in_flight(op) or view.now.wall < stops_at(op):
        return Deferred("submitting")
    return Stopped(unsent(draft, view, ask.contract))


def unsent(draft: Draft, view: View, contract: Contract) -> Operation:
    """The deadline of a submission that is not in flight: nothing was sent, or an answer was lost before (B17)."""
    op, sets = draft.op, Sets()
    if "submit" in op.open_actions:
        op, sets = superseded(view, op, "submit", "the deadline passed before it was sent")
    if may_be_submitted(op):
        reason, detail = Reason.SUBMISSION_AMBIGUOUS, "the deadline passed, and the answer to a submission was lost before"
    else:
        reason, detail = Reason.DEADLINE_EXCEEDED, "the deadline passed before the submission"
    return escalate(draft, op, reason, detail, contract, view.now, also=sets)


def lose_lease(draft: Draft) -> Operation:
    """An owner that went silent: its request stays counted and is no transport failure (we failed, not the provider)."""
    op = draft.op
    owner, permit = op.lease.owner if op.lease else "", op.permit
    if permit is not None and permit.purpose != "cancel":
        permit = replace(permit, checks=0)  # a crash wastes it, also what was kept for the confirmation
    op = replace(op, lease=None, attempts=op.attempts + 1, delivery=Delivery.AMBIGUOUS, permit=permit)
    draft.add(Kind.LEASE_LOST, op, lost_by=owner)
    return draft.op


def _permit_over(ask: Reserve, view: View, draft: Draft) -> Reservation:
    """A permit that is used up or too old: a cancel without a known end becomes a question (X11)."""
    op, permit = draft.op, draft.op.permit
    assert permit is not None
    if permit.purpose == "cancel":
        detail = "the provider has neither confirmed the cancel nor ended the job"
        return Stopped(escalate(draft, op, Reason.CANCEL_UNCONFIRMED, detail, ask.contract, view.now))
    assert op.escalation is not None  # every other permit is written on an escalated operation
    reason, detail = op.escalation.reason, op.escalation.detail
    asks = carrier(account_of(view, op, ask.contract), op.credential)
    if reason is Reason.AUTHORIZATION_DENIED and asks != op.operation_id:
        return _rejoined(draft, view.now)
    return Stopped(escalate(draft, op, reason, detail, ask.contract, view.now))


def _rejoined(draft: Draft, now: Moment) -> Deferred:
    """A probe that came to nothing, of a credential that another asks about or nobody refused: like the others (B11)."""
    op, source = answered(draft.op, now.wall), DelaySource.ACCOUNT_HOLD
    op = replace(op, phase=Phase.WAITING, permit=None, next_poll_at=now.wall, delay_source=source, revision=op.revision + 1)
    draft.add(Kind.CHECK_PLANNED, op, reason=source)
    return Deferred(source, account_wide=True)


def _needs_approval(contract: Contract) -> bool:
    return not contract.status.read_only or contract.auth.approval == "each_call"


def _granted_one(op: Operation) -> Operation:
    """A permit where the limit is spent is a grant of one request (X8): a limit changes, and so the revision (X7)."""
    granted = replace(op.granted, checks=op.granted.checks + 1)
    return replace(op, max_status_requests=op.max_status_requests + 1, granted=granted, revision=op.revision + 1)


def _by_boot_clock(minimum: NotBefore, now: Moment) -> datetime:
    if minimum.boot != now.boot:
        return minimum.at
    return now.wall + timedelta(milliseconds=max(0, minimum.up - now.up))


def _replanned(draft: Draft, deferred: Deferred) -> Deferred:
    """The reason of not sending changed: the plan moves, once per reason and not once per look (STORE 1.2)."""
    op = draft.op
    if deferred.until is None:
        return deferred
    source = DelaySource.PROVIDER_RETRY_AFTER if deferred.why == "provider_wait" else DelaySource(deferred.why)
    at = deferred.until + timedelta(milliseconds=1)
    if source is op.delay_source and (op.next_poll_at == at or source is DelaySource.ACCOUNT_LIMIT):
        return deferred  # who waits for a token goes on waiting for one, whoever got the last
    draft.add(Kind.CHECK_PLANNED, replace(op, next_poll_at=at, delay_source=source), reason=deferred.why)
    return deferred


def give_back(
    operation_id: str, owner: str, token: int, *, kind: Kind, reason: str, retry_at: datetime | None = None
) -> Command[Operation | None]:
    """The lease of a request that never left (`check_withheld`) or whose outcome is dropped (`lease_lost`): still counted."""

    def command(view: View) -> Plan[Operation | None] | Refusal:
        op = load(view, operation_id)
        if op is None or op.lease is None or op.lease.token != token:
            return Plan((), op)
        draft = Draft(owner, op)
        is_ambiguous = kind is Kind.LEASE_LOST
        delivery = Delivery.AMBIGUOUS if is_ambiguous else Delivery.NONE
        freed = replace(op, lease=None, delivery=delivery, attempts=op.attempts + (1 if is_ambiguous else 0))
        if retry_at is not None and not op.phase.is_terminal:
            freed = replace(freed, next_poll_at=retry_at)
        draft.add(kind, freed, reason=reason)
        return Plan(tuple(draft.events), draft.op)

    return command


def inherit_denial(operation_id: str, contract: Contract, actor: str) -> Command[Operation | None]:
    """The next held operation gets the escalation of its refused credential, where nobody carries it any more (B11)."""

    def command(view: View) -> Plan[Operation | None] | Refusal:
        op = load(view, operation_id)
        if op is None or not may_inherit(op) or (op.lease is not None and not lease_has_ended(op.lease, view)):
            return Plan((), None)
        acc = account_of(view, op, contract)
        if acc.denied is None or not is_denied(acc, op.credential) or carrier(acc, op.credential) is not None:
            return Plan((), None)
        draft = Draft(actor, op)
        if op.lease is not None:
            op = lose_lease(draft)
        sets = account_set(view, deny_account(acc, op, view.now, acc.denied.http_status))
        if "submit" in op.open_actions:
            op, ended = superseded(view, op, "submit", "this account's credential was refused before it was sent")
            sets.update(ended)
        detail = "this account's credential was refused"
        escalate(draft, op, Reason.AUTHORIZATION_DENIED, detail, contract, view.now, also=sets)
        return Plan(tuple(draft.events), draft.op)

    return command
