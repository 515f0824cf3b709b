"""Writing down what one answer said and what follows from it: one fenced transaction (STORE 4, record).

Only this file decides how an observation changes the record. `engine/poll.py` calls it after each answer or fault. `decide`
runs inside the command, on the fresh record; its random draw is an argument, so a replay gives the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from jobconsole.core.command import Command, Moment, Plan, Refusal, View
from jobconsole.core.commands.transitions import (
    Sets,
    account_of,
    account_set,
    answered,
    conclude,
    deny_account,
    escalate,
    load,
)
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, carrier, held, held_until, informed, is_denied, mended
from jobconsole.core.deciding.decide import ConfirmFirst, Decision, Escalate, Stop, Succeed, WaitUntil, decide, tallied
from jobconsole.core.deciding.schedule import backoff, seconds
from jobconsole.core.deciding.stall import remembered, watched
from jobconsole.core.denial import is_probe
from jobconsole.core.events import Draft, Kind
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Operation
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass

ENDS = frozenset(
    {
        StateClass.SUCCEEDED,
        StateClass.PARTIAL,
        StateClass.FAILED,
        StateClass.CANCELLED,
        StateClass.EXPIRED,
        StateClass.NO_OUTCOME,
    }
)
RESULT_LIMIT = 65_536  # bytes of an inline result ("Details decided")
BOUNDS = frozenset(
    {
        Reason.DEADLINE_EXCEEDED,
        Reason.REQUEST_BUDGET_EXHAUSTED,
        Reason.TRANSPORT_FAILURES_EXHAUSTED,
        Reason.RATE_LIMITED,
        Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE,
        Reason.JOB_NOT_FOUND,
    }
)
"""Reasons that do not end the follow-up of a cancel: it has its own small budget (X11)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One observation to be written down under its token. `draw` in [0, 1) makes the next delay."""

    operation_id: str
    contract: Contract
    owner: str
    token: int
    seen: Observation
    draw: float
    is_confirm: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """What was recorded. `decision` is None for a late answer: nothing changed."""

    op: Operation
    decision: Decision | None

    @property
    def wants_confirm(self) -> bool:
        """Whether the worker must ask for one more reservation under the same token."""
        return isinstance(self.decision, ConfirmFirst)


def record(entry: Record) -> Command[Judged]:
    """Observation, decision, counters, account hold, release of the lease, escalation or end: all or nothing."""

    def command(view: View) -> Plan[Judged] | Refusal:
        op = load(view, entry.operation_id)
        if op is None:
            return Refusal("unknown_operation", f"no operation {entry.operation_id}")
        draft = Draft(entry.owner, op)
        if op.lease is None or op.lease.token != entry.token or op.phase.is_terminal:
            _late(draft, entry, view.now)
            return Plan(tuple(draft.events), Judged(draft.op, None))
        decision = _judge(draft, entry, view)
        return Plan(tuple(draft.events), Judged(draft.op, decision))

    return command


def _late(draft: Draft, entry: Record, now: Moment) -> None:
    """A stale worker's answer changes nothing (I3); if it says "ended", the next check moves to now, inside its bounds."""
    op, seen = draft.op, entry.seen
    mine = op.lease is not None and op.lease.token == entry.token
    after = replace(op, lease=None) if mine else op
    if seen.state_class in ENDS and op.phase is Phase.WAITING and op.lease is None and op.next_poll_at is not None:
        after = replace(after, next_poll_at=min(op.next_poll_at, now.wall))
    draft.add(
        Kind.LATE_ANSWER,
        after,
        http_status=seen.http_status,
        answer_state=seen.state,
        verdict=seen.verdict,
        provider_request_id=seen.request_id,
        stale_token=entry.token,
    )


def _judge(draft: Draft, entry: Record, view: View) -> Decision:
    before, contract, now = draft.op, entry.contract, view.now
    seen = with_bounded_result(entry.seen)
    op = tallied(replace(before, lease=None), seen, contract, now, is_confirm=entry.is_confirm)
    acc = account_of(view, op, contract)
    op = watched(op, contract, acc)
    decision = decide(op, seen, contract, now, entry.draw, held_until(acc, now), is_confirm=entry.is_confirm)
    decision = _during_cancel(op, decision, entry, now)
    decision = _for_account(op, decision, seen, acc, now)
    acc = remembered(acc, op, _end(decision))
    op = replace(op, is_success_unconfirmed=isinstance(decision, ConfirmFirst))
    if isinstance(decision, ConfirmFirst):
        op = replace(op, lease=before.lease)
    elif isinstance(decision, WaitUntil):
        op = _waiting(op, decision, now)
    else:
        op = replace(op, next_poll_at=None, delay_source=None)
    write_answer(draft, Kind.CHECK_ANSWERED, op, before, seen, decision, quota_set(view, acc, seen), draw=entry.draw)
    acc = account_after(draft, acc, seen, decision, before, view)
    apply_ending(draft, decision, contract, view, acc, seen.http_status)
    return decision


def _end(decision: Decision) -> Phase | None:
    """The phase in which the decision ends the operation; None where it does not."""
    if isinstance(decision, Succeed):
        return Phase.SUCCEEDED
    return decision.phase if isinstance(decision, Stop) else None


def with_bounded_result(seen: Observation) -> Observation:
    """The observation with an inline result of at most 64 KiB; a larger one is left at the provider, and that is said."""
    if seen.result is None or not seen.result.has_inline:
        return seen
    size = len(msgspec.json.encode(seen.result.inline))
    if size <= RESULT_LIMIT:
        return seen
    note = f"the result of {size} bytes is larger than {RESULT_LIMIT} and stays at the provider"
    facts = replace(seen.result, inline=None, has_inline=False)
    return replace(seen, result=facts, notes=(*seen.notes, note))


def _waiting(op: Operation, decision: WaitUntil, now: Moment) -> Operation:
    """The operation that goes on: an escalated one too, where a permit's check found nothing to ask about any more."""
    op = replace(op, next_poll_at=decision.at, delay_source=decision.source)
    if op.phase is not Phase.ESCALATED or (op.permit is not None and op.permit.purpose == "cancel"):
        return op
    return replace(answered(op, now.wall), phase=Phase.WAITING, permit=None, revision=op.revision + 1)


def _during_cancel(op: Operation, decision: Decision, entry: Record, now: Moment) -> Decision:
    """The follow-up of a cancel: its own checks, also past the deadline, until the provider's word is known (X11)."""
    permit = op.permit
    if permit is None or permit.purpose != "cancel":
        return decision
    if not isinstance(decision, WaitUntil) and not (isinstance(decision, Escalate) and decision.reason in BOUNDS):
        return decision
    if permit.checks <= 0 or now.wall >= permit.until_at:
        detail = "the provider has neither confirmed the cancel nor ended the job"
        return Escalate(Reason.CANCEL_UNCONFIRMED, detail)
    at = now.wall + backoff(max(0, 3 - permit.checks), entry.contract.schedule, entry.draw)
    if op.not_before is not None:
        at = max(at, op.not_before.at)
    return WaitUntil(min(at, permit.until_at), DelaySource.LOCAL_BACKOFF)


def _for_account(op: Operation, decision: Decision, seen: Observation, acc: Account, now: Moment) -> Decision:
    """One escalation for a refused credential: the others stay waiting, held; an unanswered probe stays a question (B11)."""
    asks = carrier(acc, op.credential)
    denied = isinstance(decision, Escalate) and decision.reason is Reason.AUTHORIZATION_DENIED
    if denied and asks not in (None, op.operation_id):
        return WaitUntil(now.wall, DelaySource.ACCOUNT_HOLD)
    if asks == op.operation_id and seen.call_error is CallError.DELIVERY_FAILURE:
        return Escalate(Reason.AUTHORIZATION_DENIED, f"the probe brought no answer: {seen.detail}")
    return decision


def write_answer(
    draft: Draft,
    kind: Kind,
    op: Operation,
    before: Operation,
    seen: Observation,
    decision: Decision,
    also: Sets,
    *,
    draw: float | None = None,
) -> None:
    """The answer's own event, and beside it `state_changed` and `hint_rejected` where they apply (STORE 1.2).

    `also` is what it changes beside the operation.
    """
    reason = decision.reason if isinstance(decision, Escalate) else decision.look if isinstance(decision, Stop) else None
    told = replace(seen, result=replace(seen.result, inline=None)) if seen.result is not None else seen
    draft.add(
        kind,
        op,
        also=also,
        http_status=seen.http_status,
        provider_request_id=seen.request_id,
        decision=decision.word,
        reason=reason,
        detail=seen.detail or None,
        draw=draw,
        observation=told,
    )
    if op.last_known_state != before.last_known_state:
        draft.add(Kind.STATE_CHANGED, before_state=before.last_known_state, state_class=op.state_class)
    for hint in seen.rejected:
        draft.add(Kind.HINT_REJECTED, hint=hint.what, value=hint.value, why=hint.why)
    if isinstance(decision, WaitUntil) and decision.hint_rejected:
        draft.add(Kind.HINT_REJECTED, hint=seen.hint_source, value=f"{seen.hint_s:g}", why=decision.hint_rejected)


def quota_set(view: View, acc: Account, seen: Observation) -> Sets:
    """What rate-limit headers say of the account rides in the answer's own event; a hold has one of its own."""
    return account_set(view, informed(acc, view.now, seen.rate))


def account_after(
    draft: Draft, acc: Account, seen: Observation, decision: Decision | None, before: Operation, view: View
) -> Account:
    """What this answer means for all operations of the account: held, released, spaced (B9, B11).

    `decision` is None for the answer to a cancel, which decides nothing.
    """
    now = view.now
    after = informed(acc, now, seen.rate)
    limited = seen.call_error is CallError.RATE_LIMITED
    if (limited or seen.http_status == 503) and seen.retry_after_s:
        after = held(after, now, seconds(seen.retry_after_s))
    elif limited and isinstance(decision, WaitUntil) and decision.at is not None:
        after = held(after, now, decision.at - now.wall)
    if after.hold_until_at != acc.hold_until_at:
        draft.add(Kind.HELD, also=account_set(view, after), account=after.account, until=after.hold_until_at)
    elif after.spacing_ms != acc.spacing_ms:
        draft.add(Kind.HELD, also=account_set(view, after), account=after.account, spacing_ms=after.spacing_ms)
    if seen.call_error is CallError.AUTHORIZATION_DENIED and isinstance(decision, WaitUntil):
        after = deny_account(after, before, now, seen.http_status)
        draft.add(Kind.HELD, also=account_set(view, after), account=after.account, reason=Reason.AUTHORIZATION_DENIED)
        return after
    return released(draft, after, seen, before, view)


def released(draft: Draft, acc: Account, seen: Observation, before: Operation, view: View) -> Account:
    """The account after a probe: whatever the provider answered, other than a refusal or a fault, it took the credential."""
    not_taken = (CallError.AUTHORIZATION_DENIED, CallError.DELIVERY_FAILURE)
    was_taken = seen.http_status is not None and seen.call_error not in not_taken
    if not was_taken or not is_probe(before) or not is_denied(acc, before.credential):
        return acc
    after = mended(acc, before.credential)
    draft.add(Kind.RELEASED, also=account_set(view, after), account=after.account, reason="credential accepted")
    return after


def apply_ending(
    draft: Draft, decision: Decision, contract: Contract, view: View, acc: Account, http_status: int | None
) -> None:
    """The event that ends the wait or stops it, where the decision says so."""
    op = draft.op
    if isinstance(decision, Succeed):
        conclude(draft, op, Phase.SUCCEEDED, None, view, decision="succeed")
    elif isinstance(decision, Stop):
        conclude(draft, op, decision.phase, decision.look, view, decision="stop")
    elif isinstance(decision, Escalate):
        sets = None
        if decision.reason is Reason.AUTHORIZATION_DENIED:
            sets = account_set(view, deny_account(acc, op, view.now, http_status))
        escalate(draft, op, decision.reason, decision.detail, contract, view.now, also=sets)
