"""What follows from one answer: record x observation x now x draw -> decision (CONTRACT, order of evaluation, 8, 10, 11).

Only this file concludes. `recording.py` counts the answer first (`tallied`), asks `decide`, and writes down what it says;
nothing here changes a record. A decision is a value: `WaitUntil`, `ConfirmFirst`, `Succeed`, `Stop` or `Escalate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from msgspec.structs import replace

from jobconsole.core.command import Moment
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.schedule import EXPIRY_TOLERANCE, plan, seconds
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import NotBefore, Operation, Result, deadline
from jobconsole.core.vocabulary import DelaySource, Phase, Reason, StateClass

LEAST_REREADS = 2  # a success that lacks its result is read again at least so often (CONTRACT, result.lag)


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Go on waiting; `at` None means that no check fits before the deadline any more."""

    at: datetime | None
    source: DelaySource
    hint_rejected: str = ""
    word = "wait_until"


@dataclass(frozen=True, slots=True)
class ConfirmFirst:
    """A second, counted look decides (X24)."""

    word = "confirm"


@dataclass(frozen=True, slots=True)
class Succeed:
    """The job succeeded and its answer has what success requires."""

    word = "succeed"


@dataclass(frozen=True, slots=True)
class Stop:
    """The job ended otherwise; `look` is what somebody should see (H13)."""

    phase: Phase
    look: Reason | None
    word = "stop"


@dataclass(frozen=True, slots=True)
class Escalate:
    """A person decides; `detail` is one bounded sentence."""

    reason: Reason
    detail: str = ""
    word = "escalate"


Decision: TypeAlias = WaitUntil | ConfirmFirst | Succeed | Stop | Escalate

_ENDS: dict[StateClass, Stop] = {
    StateClass.PARTIAL: Stop(Phase.COMPLETED_WITH_ERRORS, Reason.COMPLETED_WITH_ERRORS),
    StateClass.FAILED: Stop(Phase.FAILED, Reason.PROVIDER_FAILURE),
    StateClass.CANCELLED: Stop(Phase.CANCELLED, Reason.CANCELLED_ELSEWHERE),
    StateClass.EXPIRED: Stop(Phase.EXPIRED, Reason.JOB_EXPIRED),
    StateClass.NO_OUTCOME: Stop(Phase.NO_OUTCOME, Reason.NO_OUTCOME),
}
_QUESTIONS: dict[StateClass, Reason] = {
    StateClass.NEEDS_HUMAN: Reason.NEEDS_HUMAN_AT_PROVIDER,
    StateClass.UNKNOWN: Reason.UNKNOWN_STATE,
    StateClass.CONTRADICTION: Reason.CONTRADICTORY_RESPONSE,
}


def tallied(op: Operation, seen: Observation, contract: Contract, at: Moment, *, is_confirm: bool = False) -> Operation:
    """The record after this answer was counted: attempts, budgets, what was learned of the job. Limits stay (B4, B16).

    A confirming look says nothing about the result: what the status answer lacked stays lacking (CONTRACT, steps 10 and 11).
    """
    op = replace(
        op,
        attempts=op.attempts + 1,
        delivery=seen.delivery,
        last_http_status=seen.http_status,
        last_http_at=at.wall,
        last_request_id=seen.request_id or op.last_request_id,
        not_before=provider_minimum(op, seen, at),
    )
    if seen.call_error is CallError.DELIVERY_FAILURE:
        return replace(
            op,
            transport_failures_used=op.transport_failures_used + 1,
            transport_failures_in_a_row=op.transport_failures_in_a_row + 1,
        )
    if seen.call_error is CallError.RATE_LIMITED:
        return replace(op, rate_limits_used=op.rate_limits_used + 1, rate_limits_in_a_row=op.rate_limits_in_a_row + 1)
    if seen.call_error is CallError.NOT_FOUND and not in_grace(op, contract, at.wall):
        return replace(op, not_found_in_a_row=op.not_found_in_a_row + 1)
    if seen.call_error is not None:
        return op
    learned = _learned(op, seen, at)
    return replace(learned, lacking_since=op.lacking_since, lacking_reads=op.lacking_reads) if is_confirm else learned


def in_grace(op: Operation, contract: Contract, now: datetime) -> bool:
    """Whether a 404 still means "not visible yet": only after our own submission (C7)."""
    if op.is_tracked or op.submitted_at is None or op.was_seen:
        return False
    return now - op.submitted_at < contract.http.not_found.grace


def provider_minimum(op: Operation, seen: Observation, at: Moment) -> NotBefore | None:
    """The provider's minimum after this answer: the later of its Retry-After and one that still runs (B2, B7)."""
    if not seen.retry_after_s:
        return op.not_before if op.not_before is not None and op.not_before.at > at.wall else None
    delay = seconds(seen.retry_after_s)
    new = NotBefore(at=at.wall + delay, up=at.up + int(delay / timedelta(milliseconds=1)), boot=at.boot)
    return op.not_before if op.not_before is not None and op.not_before.at > new.at else new


def _learned(op: Operation, seen: Observation, at: Moment) -> Operation:
    """What a good answer says of the job; unknown values keep the last known ones."""
    moved = seen.state not in (None, op.last_known_state) or (seen.progress is not None and seen.progress != op.progress_share)
    lacking = seen.state_class is StateClass.SUCCEEDED and seen.result is not None and bool(seen.result.missing)
    return replace(
        op,
        was_seen=True,
        observed_at=at.wall,
        transport_failures_in_a_row=0,
        rate_limits_in_a_row=0,
        not_found_in_a_row=0,
        last_known_state=seen.state if seen.state is not None else op.last_known_state,
        state_class=seen.state_class,
        state_since=at.wall if moved or op.state_since is None else op.state_since,
        longest_silence_ms=max(op.longest_silence_ms, _silence_ms(op, at)) if moved else op.longest_silence_ms,
        progress_share=seen.progress if seen.progress is not None else op.progress_share,
        message=seen.message or op.message,
        error=seen.error or op.error,
        counts=seen.counts or op.counts,
        errors_url=seen.errors_url or op.errors_url,
        status_url=seen.status_url or op.status_url,
        provider_started_at=seen.started_at or op.provider_started_at,
        provider_ended_at=seen.ended_at or op.provider_ended_at,
        provider_expires_at=seen.expires_at or op.provider_expires_at,
        lacking_since=(op.lacking_since or at.wall) if lacking else None,
        lacking_reads=op.lacking_reads + 1 if lacking else 0,
        result=_result(op, seen),
    )


def _silence_ms(op: Operation, at: Moment) -> int:
    """How long the job showed no change, up to now."""
    return 0 if op.state_since is None else int((at.wall - op.state_since) / timedelta(milliseconds=1))


def _result(op: Operation, seen: Observation) -> Result | None:
    facts = seen.result
    if facts is None or seen.state_class in (StateClass.WAITING, StateClass.UNKNOWN, StateClass.CONTRADICTION):
        return op.result
    return Result(inline=facts.inline, has_inline=facts.has_inline, url=facts.url, result_id=facts.result_id)


def decide(
    op: Operation,
    seen: Observation,
    contract: Contract,
    at: Moment,
    draw: float,
    held: datetime | None = None,
    *,
    is_confirm: bool = False,
) -> Decision:
    """Conclude from a tallied record. A replay with the same arguments gives the same.

    `draw` in [0, 1) makes the plan; `held` is until when other answers hold the account back (B9).
    """
    if seen.call_error is not None:
        return _call_error(op, seen, contract, at, draw, held)
    found = seen.state_class
    assert found is not None  # exactly one of the two is set
    if found is StateClass.SUCCEEDED:
        return _success(op, seen, contract, at, draw, held, is_confirm)
    if found in _ENDS:
        end = _ENDS[found]
        asked_for = found is StateClass.CANCELLED and op.cancel_requested_at is not None
        return Stop(end.phase, None if asked_for else end.look)
    if found in _QUESTIONS:
        return Escalate(_QUESTIONS[found], seen.detail)
    return _wait(op, seen, contract, at, draw, held)


def _call_error(
    op: Operation, seen: Observation, contract: Contract, at: Moment, draw: float, held: datetime | None
) -> Decision:
    error = seen.call_error
    if error is CallError.AUTHORIZATION_DENIED:
        return Escalate(Reason.AUTHORIZATION_DENIED, seen.detail)
    if error is CallError.INTEGRATION_ERROR:
        return Escalate(Reason.INTEGRATION_ERROR, seen.detail)
    if error is CallError.NOT_FOUND:
        return _not_found(op, seen, contract, at, draw, held)
    if (beyond := _waits_past_deadline(op, seen, at)) is not None:
        return beyond
    if error is CallError.RATE_LIMITED and op.rate_limits_used >= op.max_rate_limits:
        return Escalate(Reason.RATE_LIMITED, seen.detail)
    if error is CallError.DELIVERY_FAILURE and (
        op.transport_failures_used >= op.max_transport_failures
        or op.transport_failures_in_a_row >= op.max_transport_failures_in_a_row
    ):
        return Escalate(Reason.TRANSPORT_FAILURES_EXHAUSTED, seen.detail)
    return _wait(op, seen, contract, at, draw, held)


def _not_found(
    op: Operation, seen: Observation, contract: Contract, at: Moment, draw: float, held: datetime | None
) -> Decision:
    """CONTRACT step 8: grace, retention, or a failed observation of which the n-th in a row escalates."""
    rule = contract.http.not_found
    born = op.submitted_at or op.started_at
    if op.was_seen and rule.expired_after is not None and at.wall - born >= rule.expired_after:
        return Stop(Phase.EXPIRED, Reason.JOB_EXPIRED)
    if op.not_found_in_a_row >= rule.in_a_row:
        return Escalate(Reason.JOB_NOT_FOUND, seen.detail)
    return _wait(op, seen, contract, at, draw, held)


def _success(
    op: Operation, seen: Observation, contract: Contract, at: Moment, draw: float, held: datetime | None, is_confirm: bool
) -> Decision:
    """CONTRACT steps 10 and 11: confirm where the contract has one, then what success requires, within `lag`."""
    if contract.confirm is not None and not is_confirm:
        if op.status_requests_used >= op.max_status_requests and op.permit is None:
            return Escalate(Reason.REQUEST_BUDGET_EXHAUSTED, "the provider says succeeded; no request is left to confirm it")
        return ConfirmFirst()
    if op.lacking_since is None:
        return Succeed()
    if op.lacking_reads > LEAST_REREADS and at.wall - op.lacking_since >= contract.result.lag:
        lacked = ", ".join(seen.result.missing) if seen.result is not None else "what it must bring"
        return Escalate(Reason.CONTRADICTORY_RESPONSE, f"succeeded without {lacked}")
    return _wait(op, seen, contract, at, draw, held)


def _waits_past_deadline(op: Operation, seen: Observation, at: Moment) -> Escalate | None:
    """A provider's wait that reaches past the deadline leaves nothing to do before it (B7)."""
    if not seen.retry_after_s or at.wall + seconds(seen.retry_after_s) < deadline(op):
        return None
    return Escalate(Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE, f"the provider asks to wait {seen.retry_after_s:.0f} s")


def _wait(op: Operation, seen: Observation, contract: Contract, at: Moment, draw: float, held: datetime | None) -> Decision:
    """Go on waiting, unless a bound is spent: then a person decides right now (B15)."""
    if at.wall >= deadline(op):
        return Escalate(Reason.DEADLINE_EXCEEDED, _deadline_name(op))
    if _outlived_expiry(op, seen, at):
        return Escalate(Reason.CONTRADICTORY_RESPONSE, "it still runs after its own expiry")
    if (beyond := _waits_past_deadline(op, seen, at)) is not None:
        return beyond
    if op.status_requests_used >= op.max_status_requests:
        return Escalate(Reason.REQUEST_BUDGET_EXHAUSTED, seen.detail)
    planned = plan(op, contract, seen, at.wall, draw, held)
    return WaitUntil(planned.at, planned.source, planned.hint_rejected)


def _outlived_expiry(op: Operation, seen: Observation, at: Moment) -> bool:
    """Waiting after the expiry that an earlier answer told, by the provider's own clock (B14; `job_facts.py` judges one that
    this answer tells)."""
    if seen.state_class is not StateClass.WAITING or seen.expires_at is not None or op.provider_expires_at is None:
        return False
    return at.wall + timedelta(milliseconds=seen.clock_skew_ms or 0) > op.provider_expires_at + EXPIRY_TOLERANCE


def _deadline_name(op: Operation) -> str:
    return "business deadline" if deadline(op) != op.deadline_at else "deadline"
