"""What the answer to an action means: a submission was accepted, refused, or nobody knows; a cancel was heard (B17, X10, A7).

Only this file decides that. `engine/act.py` calls it with the observation of the answer, under the token of the claim.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from jobconsole.core.command import Command, Plan, Refusal, View
from jobconsole.core.commands.claims import (
    end_action,
    follow_up,
    may_repeat,
    repeat_submit,
    submit_unclear,
    without_action,
)
from jobconsole.core.commands.group import siblings
from jobconsole.core.commands.recording import (
    account_after,
    apply_ending,
    quota_set,
    released,
    with_bounded_result,
    write_answer,
)
from jobconsole.core.commands.transitions import (
    account_of,
    account_set,
    conclude,
    deny_account,
    escalate,
    load,
    may_be_submitted,
)
from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account, carrier, held
from jobconsole.core.deciding.decide import ConfirmFirst, WaitUntil, decide, provider_minimum, tallied
from jobconsole.core.deciding.schedule import backoff, seconds
from jobconsole.core.events import Draft, EventDraft, Kind, Table
from jobconsole.core.judging.answer import CallError, Observation
from jobconsole.core.operation import Action, Operation, action
from jobconsole.core.vocabulary import ActionState, DelaySource, Delivery, Phase, Reason, StateClass

EARLIER = "an earlier submission, whose answer was lost, may have been accepted"


@dataclass(frozen=True, slots=True)
class ActionAnswer:
    """The observation of an action's answer, under its claim's token. `draw` in [0, 1) makes the next delay."""

    operation_id: str
    kind: str
    contract: Contract
    owner: str
    token: int
    seen: Observation
    draw: float


def record_action(entry: ActionAnswer) -> Command[Operation]:
    """Write down how an action ended; a stale claim's answer is evidence and changes nothing."""

    def command(view: View) -> Plan[Operation] | Refusal:
        op = load(view, entry.operation_id)
        if op is None:
            return Refusal("unknown_operation", f"no operation {entry.operation_id}")
        draft = Draft(entry.owner, op)
        opened = op.open_actions.get(entry.kind)
        doc = view.get(Table.ACTIONS, opened.action_id) if opened else None
        act = action(doc) if doc is not None else None
        if act is None or act.state is not ActionState.CLAIMED or act.token != entry.token or op.phase.is_terminal:
            draft.add(
                Kind.LATE_ANSWER,
                http_status=entry.seen.http_status,
                action=entry.kind,
                answer_job_id=entry.seen.job_id,
                stale_token=entry.token,
            )
        elif entry.kind == "submit":
            _submitted(draft, act, entry, view)
        else:
            _cancelled(draft, act, entry, view)
        others = _others(draft, entry)
        return Plan((*draft.events, *others), draft.op)

    return command


def _others(draft: Draft, entry: ActionAnswer) -> list[EventDraft]:
    """The other jobs of a submission that started several, once it was accepted."""
    job_ids = entry.seen.job_ids
    if entry.kind != "submit" or len(job_ids) < 2 or draft.op.phase is not Phase.WAITING or draft.op.group is not None:
        return []
    draft.add(Kind.CHECK_PLANNED, replace(draft.op, group=draft.op.operation_id), reason="group")
    return siblings(draft.op, job_ids, entry.owner)


def _cancelled(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    """The answer to a cancel never sets the final state; the next observation does (X11)."""
    seen, cancel = entry.seen, entry.contract.cancel
    if seen.http_status is None:
        unknown = seen.delivery is Delivery.AMBIGUOUS
        state, outcome = (ActionState.UNKNOWN, "unknown") if unknown else (ActionState.ENDED, "not_sent")
    elif cancel is not None and cancel.request.accepts(seen.http_status):
        state, outcome = ActionState.ENDED, "accepted"
    else:
        state, outcome = ActionState.ENDED, f"answered {seen.http_status}"
    account_after(draft, account_of(view, draft.op, entry.contract), seen, None, draft.op, view)
    minimum = provider_minimum(draft.op, seen, view.now)
    follow_up(draft, act, view.now.wall, state, outcome, seen.detail, seen.http_status, minimum)


def _submitted(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    seen, status, contract = entry.seen, entry.seen.http_status, entry.contract
    submit = contract.submit
    if status is not None and submit is not None and submit.request.accepts(status):
        _accepted(draft, act, entry, view)
    elif seen.call_error is CallError.AUTHORIZATION_DENIED:
        _denied(draft, act, entry, view)
    else:
        _not_accepted(draft, act, entry, view)


def _not_accepted(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    seen, status, contract = entry.seen, entry.seen.http_status, entry.contract
    acc = released(draft, account_of(view, draft.op, contract), seen, draft.op, view)
    if status in (429, 503):
        _try_later(draft, act, entry, view, acc)
    elif status == 409 and may_be_submitted(draft.op):
        _conflict(draft, act, entry, view)
    elif status is not None and 400 <= status <= 499 and status not in (408, 421, 425):
        _end(draft, act, view, "refused", seen)
        conclude(draft, draft.op, Phase.FAILED, Reason.SUBMISSION_REFUSED, view, decision="stop", http_status=status)
    elif status is None and seen.delivery is Delivery.NONE:
        _not_sent(draft, act, entry, view)
    elif may_repeat(act, contract, view.now.wall, was_lost=True):
        due_at = view.now.wall + backoff(act.attempts - 1, contract.schedule, entry.draw)
        repeat_submit(draft, act, due_at, "unknown", seen.detail or f"answered {status}")
    else:
        detail = f"the submission may have been accepted: {seen.detail or f'answered {status}'}"
        submit_unclear(draft, act, contract, view, detail)


def _denied(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    """Nothing was accepted. Where somebody asks about this credential already, the submission is held like the others (B11)."""
    op, seen, now = draft.op, entry.seen, view.now
    acc = account_of(view, op, entry.contract)
    sets = account_set(view, deny_account(acc, op, now, seen.http_status))
    if carrier(acc, op.credential) not in (None, op.operation_id):
        repeat_submit(draft, act, now.wall, "refused", "another operation asks about this credential already")
        draft.add(Kind.HELD, also=sets, account=acc.account, reason=Reason.AUTHORIZATION_DENIED)
        return
    _end(draft, act, view, "refused", seen)
    reason, detail = Reason.AUTHORIZATION_DENIED, "the submission was refused; nothing was accepted"
    if may_be_submitted(draft.op):
        detail = "the submission was refused; an earlier one, whose answer was lost, may have been accepted"
    escalate(draft, draft.op, reason, detail, entry.contract, now, also=sets)


def _not_sent(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    """Provably nothing reached the provider, so trying again starts no second job."""
    contract, seen = entry.contract, entry.seen
    stops = seen.is_certificate_fault or seen.call_error is CallError.INTEGRATION_ERROR
    if not stops and may_repeat(act, contract, view.now.wall, was_lost=False):
        due_at = view.now.wall + backoff(act.attempts - 1, contract.schedule, entry.draw)
        repeat_submit(draft, act, due_at, "not_sent", seen.detail)
        return
    if may_be_submitted(draft.op):
        submit_unclear(draft, act, contract, view, f"{EARLIER}; this one was not sent: {seen.detail}")
        return
    _end(draft, act, view, "not_sent", seen)
    reason = Reason.INTEGRATION_ERROR if stops else Reason.TRANSPORT_FAILURES_EXHAUSTED
    escalate(draft, draft.op, reason, f"nothing was submitted: {seen.detail}", contract, view.now)


def _try_later(draft: Draft, act: Action, entry: ActionAnswer, view: View, acc: Account) -> None:
    """A 429 or 503 says that nothing was accepted: again after its delay, within the bounds of X10."""
    contract, seen, now = entry.contract, entry.seen, view.now
    delay = backoff(act.attempts - 1, contract.schedule, entry.draw) * (4 if seen.http_status == 429 else 1)
    if seen.retry_after_s:
        delay = seconds(seen.retry_after_s)
    if seen.http_status == 429 or seen.retry_after_s:
        acc = held(acc, now, delay)
        draft.add(Kind.HELD, also=account_set(view, acc), account=acc.account, until=acc.hold_until_at)
    if may_repeat(act, contract, now.wall + delay, was_lost=False):
        repeat_submit(draft, act, now.wall + delay, f"answered {seen.http_status}", seen.detail)
        return
    if may_be_submitted(draft.op):
        submit_unclear(draft, act, contract, view, f"{EARLIER}; this one was answered {seen.http_status}")
        return
    _end(draft, act, view, f"answered {seen.http_status}", seen)
    reason = Reason.RATE_LIMITED if seen.http_status == 429 else Reason.TRANSPORT_FAILURES_EXHAUSTED
    detail = f"nothing was submitted: the provider answered {seen.http_status} {act.attempts} times"
    escalate(draft, draft.op, reason, detail, contract, now)


def _conflict(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    """A 409 after a lost answer is evidence that the first one worked: its job is adopted where it is named (X10)."""
    if entry.seen.job_id is None and entry.seen.status_url is None:
        submit_unclear(draft, act, entry.contract, view, "the provider answered 409 and names no job: one may exist")
    else:
        _accepted(draft, act, entry, view)


def _accepted(draft: Draft, act: Action, entry: ActionAnswer, view: View) -> None:
    seen, contract, now = with_bounded_result(entry.seen), entry.contract, view.now
    if seen.job_id is None and seen.status_url is None:
        _end(draft, act, view, "accepted", seen)
        detail = "the submission was accepted, but its answer names no job; it is never sent again"
        escalate(draft, replace(draft.op, submitted_at=now.wall), Reason.INTEGRATION_ERROR, detail, contract, now)
        return
    before = draft.op
    told = seen if _is_final(seen, contract) else replace(seen, verdict=StateClass.WAITING.value)
    op = replace(tallied(before, told, contract, now), attempts=before.attempts)
    op = replace(
        without_action(op, "submit"),
        phase=Phase.WAITING,
        escalation=None,
        permit=None,
        provider_job_id=seen.job_id or op.provider_job_id,
        status_url=seen.status_url or op.status_url,
        result_url=seen.result_url or op.result_url,
        submitted_at=now.wall,
        was_seen=False,
        estimated_seconds=seen.estimated_s,
        base_delay_ms=int(seen.hint_s * 1000) if seen.hint_s else None,
        revision=op.revision + 1,
    )
    decision = decide(op, told, contract, now, entry.draw)
    if isinstance(decision, ConfirmFirst):
        decision = WaitUntil(now.wall, DelaySource.LOCAL_BACKOFF)
    if isinstance(decision, WaitUntil):
        op = replace(op, next_poll_at=decision.at, delay_source=decision.source)
    acc = account_of(view, op, contract)
    write_answer(draft, Kind.SUBMIT_ANSWERED, op, before, told, decision, quota_set(view, acc, seen), draw=entry.draw)
    ended = replace(act, state=ActionState.ENDED, ended_at=now.wall, outcome="accepted", http_status=seen.http_status)
    end_action(draft, draft.op, act, ended)
    acc = account_after(draft, acc, seen, decision, before, view)
    if isinstance(decision, WaitUntil):
        draft.add(Kind.CHECK_PLANNED, reason="submitted")
    else:
        apply_ending(draft, decision, contract, view, acc, seen.http_status)


def _end(draft: Draft, act: Action, view: View, outcome: str, seen: Observation) -> None:
    """The submission's last event; what was learned about the request stays on the record."""
    now = view.now.wall
    ended = replace(
        act, state=ActionState.ENDED, ended_at=now, outcome=outcome, detail=seen.detail, http_status=seen.http_status
    )
    op = without_action(draft.op, "submit")
    op = replace(
        op,
        delivery=Delivery.AMBIGUOUS if may_be_submitted(op) else seen.delivery,
        last_http_status=seen.http_status,
        last_http_at=now,
        last_request_id=seen.request_id,
        error=seen.error or op.error,
    )
    end_action(draft, op, act, ended)


def _is_final(seen: Observation, contract: Contract) -> bool:
    """Whether the submit answer is judged like a status answer (`submit.already`)."""
    return contract.submit is not None and contract.submit.already and seen.call_error is None
