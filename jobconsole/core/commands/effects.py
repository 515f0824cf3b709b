"""What each option does to the record, once it is known to be open and inside its bounds (X6-X8, X11, X12).

Only this file decides that. `decisions.py` checks first and calls `apply_option`; every decision is one event that says who,
when, why, for which revision and what it changed (H5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace

from jobconsole.core.command import View
from jobconsole.core.commands.submission import NewOperation, begin_submission
from jobconsole.core.commands.transitions import account_of, answered, conclude, is_unsubmitted, request_action, resumed
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account
from jobconsole.core.deciding.escalation import is_past_business_deadline, needs_extension, pause_ends
from jobconsole.core.events import Draft, EventDraft, Kind
from jobconsole.core.operation import Decided, Granted, Operation, Option, Permit
from jobconsole.core.vocabulary import DelaySource, Phase

PERMIT_LASTS = timedelta(minutes=10)  # STORE 4
KEPT_DECISIONS = 20
REASON_LIMIT = 2_000  # characters of a reason text that are kept


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose, for the revision that was shown. Ids were made by the engine; numbers left out take the option's."""

    operation_id: str
    option: str
    revision: int
    decision_id: str
    actor: str  # person:NAME
    contract: Contract | None  # the one that judges the operation; None where it is lost
    reason: str = ""
    minutes: int | None = None
    checks: int | None = None
    failures: int | None = None
    rate_limits: int | None = None
    until_at: datetime | None = None
    job_id: str | None = None
    credential: str | None = None
    action_id: str = ""
    new_contract: Contract | None = None  # for `adopt_contract`
    again: NewOperation | None = None  # for `submit_again`

    @property
    def judge(self) -> Contract:
        """The contract, for options that are open only where there is one."""
        assert self.contract is not None
        return self.contract


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a choice; `is_repeat` where the same click had been applied before."""

    op: Operation
    effect: str
    is_repeat: bool = False


Apply = Callable[[Choice, Option, Draft, View], tuple[EventDraft, ...]]


def apply_option(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """Apply an option; returns events of other operations that belong to the same transaction."""
    by_name: dict[str, Apply] = {
        "extend": _extend,
        "pause": _pause,
        "cancel": _cancel,
        "close": _close,
        "adopt": _adopt,
        "replay_submit": _submit_once_more,
        "submit_again": _submit_again,
    }
    if choice.option in by_name:
        return by_name[choice.option](choice, option, draft, view)
    return _answer_look(choice, option, draft, view) if draft.op.phase.is_terminal else _permit(choice, option, draft, view)


def _decided(choice: Choice, draft: Draft, op: Operation, view: View, effect: str) -> None:
    """The event of the decision itself: who, when, why, for which revision, and what it changed (H5)."""
    by = choice.actor.removeprefix("person:")
    done = Decided(
        decision_id=choice.decision_id,
        option=choice.option,
        by=by,
        at=view.now.wall,
        effect=effect,
        revision=choice.revision,
    )
    op = replace(op, decided=(*op.decided, done)[-KEPT_DECISIONS:], revision=op.revision + 1)
    draft.add(
        Kind.DECIDED,
        op,
        option=choice.option,
        decision_id=choice.decision_id,
        reason_text=choice.reason.strip()[:REASON_LIMIT] or "no reason given",
        effect=effect,
        shown_revision=choice.revision,
        action_id=choice.action_id or None,
    )


def _granted(op: Operation, option: Option, minutes: int) -> Granted:
    return Granted(
        times=op.granted.times + 1,
        minutes=op.granted.minutes + minutes,
        checks=op.granted.checks + option.checks,
        failures=op.granted.failures + option.failures,
        rate_limits=op.granted.rate_limits + option.rate_limits,
    )


def _extend(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    op, now = draft.op, view.now
    until = max(now.wall, op.deadline_at) + timedelta(minutes=option.minutes)
    waives = is_past_business_deadline(op, until)
    checks = op.max_status_requests + option.checks
    effect = f"deadline {op.deadline_at:%H:%M:%S} -> {_clock(until)}, checks {op.max_status_requests} -> {checks}"
    if waives:
        effect += f", past the business deadline {_clock(op.business_deadline_at or until)}"
    acc = account_of(view, op, choice.judge)
    _decided(choice, draft, op, view, effect)
    after = replace(
        draft.op,
        deadline_at=until,
        is_business_deadline_waived=op.is_business_deadline_waived or waives,
        max_status_requests=checks,
        max_transport_failures=op.max_transport_failures + option.failures,
        max_transport_failures_in_a_row=op.max_transport_failures_in_a_row + option.failures,
        max_rate_limits=op.max_rate_limits + option.rate_limits,
        granted=_granted(op, option, option.minutes),
    )
    after = _back_to_work(choice, draft, after, acc, view, DelaySource.MANUAL_EXTENSION)
    draft.add(
        Kind.EXTENDED,
        after,
        minutes=option.minutes,
        checks=option.checks,
        failures=option.failures,
        rate_limits=option.rate_limits,
        times=after.granted.times,
        past_business_deadline=waives or None,
    )
    return _submission_reopened(choice, draft, view)


def _back_to_work(
    choice: Choice, draft: Draft, op: Operation, acc: Account, view: View, source: DelaySource, at: datetime | None = None
) -> Operation:
    """Waiting again, or submitting where nothing was accepted yet."""
    if is_unsubmitted(op):
        permit = op.permit if op.phase is Phase.SUBMITTING else None  # a mended credential still has its probe
        op = answered(op, view.now.wall)
        return replace(op, phase=Phase.SUBMITTING, permit=permit, next_poll_at=None, delay_source=None)
    return resumed(op, choice.judge, acc, view.now, source, at)


def _submission_reopened(choice: Choice, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """Where nothing was accepted, what goes on is the submission, with the token that it always had."""
    op = draft.op
    if op.phase is Phase.SUBMITTING and "submit" not in op.open_actions:
        due_at = max(view.now.wall, op.not_before.at) if op.not_before else view.now.wall
        request_action(draft, op, "submit", choice.action_id, view.now, approved_by=choice.actor, due_at=due_at)
    return ()


def _pause(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    op, now = draft.op, view.now
    assert option.until_at is not None
    needs = needs_extension(choice.judge, option.until_at, op)
    until = pause_ends(choice.judge, option.until_at)
    waives = needs and is_past_business_deadline(op, until)
    effect = f"one check at {_clock(option.until_at)}"
    if waives:
        effect += f", past the business deadline {_clock(op.business_deadline_at or until)}"
    acc = account_of(view, op, choice.judge)
    _decided(choice, draft, op, view, effect)
    after = draft.op
    if needs:
        minutes = max(0, -(-(until - max(now.wall, op.deadline_at)) // timedelta(minutes=1)))
        granted = _granted(op, Option(name="pause"), minutes)
        after = replace(
            after,
            deadline_at=max(until, op.deadline_at),
            is_business_deadline_waived=op.is_business_deadline_waived or waives,
            granted=granted,
        )
        draft.add(Kind.EXTENDED, after, minutes=minutes, times=granted.times, past_business_deadline=waives or None)
        after = draft.op
    after = _back_to_work(choice, draft, after, acc, view, DelaySource.PAUSE, option.until_at)
    draft.add(Kind.CHECK_PLANNED, after, reason="pause")
    return ()


def _permit(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """A grant of one request, used up by its reservation: a crash wastes it, nothing doubles it (STORE 4, X8)."""
    op, now = draft.op, view.now.wall
    _decided(choice, draft, op, view, option.effect)
    at = max(now, op.not_before.at) if op.not_before else now
    checks = max(option.checks, 1)
    permit = Permit(decision_id=choice.decision_id, purpose=choice.option, checks=checks, until_at=at + PERMIT_LASTS)
    after = replace(draft.op, permit=permit, next_poll_at=at, delay_source=DelaySource.MANUAL_EXTENSION)
    if choice.option == "adopt_contract" and choice.new_contract is not None:
        after = replace(after, contract=choice.new_contract.digest)
    if choice.option == "use_credential":
        after = replace(after, credential=choice.credential or option.credentials[0])
    if is_unsubmitted(after):
        after = replace(answered(after, now), phase=Phase.SUBMITTING, next_poll_at=None, delay_source=None)
    draft.add(Kind.CHECK_PLANNED, after, reason=choice.option)
    return _submission_reopened(choice, draft, view)


def _cancel(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """Asked for at the provider by an action of its own; checks go on in their own small budget (A7, X11)."""
    _decided(choice, draft, replace(draft.op, cancel_requested_at=view.now.wall), view, f"cancel at provider: {option.effect}")
    request_action(draft, draft.op, "cancel", choice.action_id, view.now, approved_by=choice.actor, due_at=view.now.wall)
    return ()


def _close(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    _decided(choice, draft, draft.op, view, option.effect)
    conclude(draft, draft.op, Phase.ABANDONED, None, view, decision="stop")
    return ()


def _adopt(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    job_id = (choice.job_id or "").strip()
    acc = account_of(view, draft.op, choice.judge)
    _decided(choice, draft, draft.op, view, f"goes on with job {job_id}")
    after = replace(draft.op, provider_job_id=job_id, is_success_unconfirmed=False)
    draft.add(Kind.CHECK_PLANNED, resumed(after, choice.judge, acc, view.now, DelaySource.MANUAL_EXTENSION), reason="adopt")
    return ()


def _submit_once_more(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """The same operation, the same stored token: only where idempotency is documented (C10). It may leave past the deadline."""
    now = view.now.wall
    _decided(choice, draft, draft.op, view, option.effect)
    permit = Permit(decision_id=choice.decision_id, purpose=choice.option, checks=1, until_at=now + PERMIT_LASTS)
    op = replace(answered(draft.op, now), phase=Phase.SUBMITTING, permit=permit)
    request_action(draft, op, "submit", choice.action_id, view.now, approved_by=choice.actor, due_at=view.now.wall)
    return ()


def _submit_again(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    """A new operation with a new token, linked; the first may still run, and nobody watches it any more (C10)."""
    assert choice.again is not None  # `_over_bounds` has looked
    effect = f"submitted again as {choice.again.operation_id}; the first may still run"
    if draft.op.phase.is_terminal:
        _look_answered(choice, draft, view, effect)
    else:
        _decided(choice, draft, draft.op, view, effect)
        conclude(draft, draft.op, Phase.ABANDONED, None, view, decision="stop")
    return tuple(begin_submission(view, choice.again).events)


def _answer_look(choice: Choice, option: Option, draft: Draft, view: View) -> tuple[EventDraft, ...]:
    _look_answered(choice, draft, view, option.effect)
    return ()


def _look_answered(choice: Choice, draft: Draft, view: View, effect: str) -> None:
    """Looks only record the answer; a terminal phase is never reopened (X7)."""
    op = draft.op
    assert op.look is not None  # only looks have options once the operation ended
    by = choice.actor.removeprefix("person:")
    answer = "acknowledge" if choice.option == "submit_again" else choice.option
    _decided(choice, draft, replace(op, look=replace(op.look, answered_by=by, answer=answer)), view, effect)


def _clock(at: datetime) -> str:
    return f"{at:%H:%M:%S} UTC"
