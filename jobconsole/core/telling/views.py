"""What all front ends show of operations, options and actions: one projection, as JSON values.

Only this file decides which fields a program or a person gets to see, and what they are called (SPEC 11, X23). Every front end
calls it with documents as they were last seen: nothing here is a permission. `inbox.py` picks from it, `contract_view.py` and
`account_view.py` show contracts and accounts.

Every key is always there, null where nothing is known; times are RFC 3339 UTC with `Z` and milliseconds. Text of a provider is
passed on as it is, because this is data: whoever draws it makes it inert (U3). No secret is in here, only references (C13).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from jobconsole.core.contracts.templates import fill_url
from jobconsole.core.deciding.account import Account, carrier, is_denied
from jobconsole.core.deciding.escalation import NEEDS_REASON_TEXT, look_options
from jobconsole.core.deciding.stall import stalled_since, unchecked_since
from jobconsole.core.keeping.line import timestamp
from jobconsole.core.operation import Action, Operation, Option, deadline
from jobconsole.core.telling.outcome import DONE_WORDS
from jobconsole.core.telling.purpose import no_purpose
from jobconsole.core.telling.wording import option_words, reason_text
from jobconsole.core.vocabulary import Phase, Reason
from jobconsole.errors import InvalidValue

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract

View: TypeAlias = dict[str, Any]


# ---- operations --------------------------------------------------------------------------------------------------------------
def operation_view(
    op: Operation,
    now: datetime,
    account: Account | None,
    contract: Contract | None,
    new_digest: str | None = None,
    *,
    is_contract_lost: bool = False,
) -> View:
    """The JSON of an operation.

    `account` is the operation's, for its hold; `contract` the one that judges it, for its options; `new_digest` that of the
    contract file as it is now (X13). Where one is None, what depends on it is as the record last said, or null;
    `is_contract_lost` says that there is no contract any more: then only what needs none is open.
    """
    has_options = contract is not None or is_contract_lost
    found = _open_options(op, now, contract, new_digest) if has_options else _last_options(op)
    options = [option_view(each, op, now, contract) for each in found]
    return {
        **_identity(op),
        **_standing(op, now),
        **_bounds(op, now),
        **_plan(op),
        "hold": hold_view(op, account, now),
        "escalation": _escalation(op, options),
        "look": _look(op),
        "attention": _attention(op),
        "options": options,
        "permit": _permit(op),
        "actions": [
            {"kind": kind, "action_id": each.action_id, "state": each.state.value, "due_at": stamp(each.due_at)}
            for kind, each in op.open_actions.items()
        ],
        "decisions": [
            {"option": d.option, "by": d.by, "at": stamp(d.at), "effect": d.effect, "decision_id": d.decision_id}
            for d in op.decided
        ],
        "cancel_requested_at": stamp(op.cancel_requested_at),
        "revision": op.revision,
        "op_seq": op.op_seq,
    }


def row_view(op: Operation, now: datetime) -> View:
    """What a list shows of an operation: the keys of `operation_view` that a row needs, for lists of ten thousand rows."""
    return {
        "operation_id": op.operation_id,
        "name": op.name,
        "provider": op.provider,
        "phase": op.phase.value,
        "done": op.phase in DONE_WORDS,
        "last_known_state": op.last_known_state,
        "progress": op.progress_share,
        "stalled": stalled_since(op, now) is not None,
        "unchecked_since": stamp(unchecked_since(op, now)),
        "last_http_status": op.last_http_status,
        "elapsed_seconds": elapsed_seconds(op, now),
        "stops_at": stamp(deadline(op)),
        "max_status_requests": op.max_status_requests,
        "status_requests_used": op.status_requests_used,
        "next_poll_at": stamp(op.next_poll_at),
    }


def _identity(op: Operation) -> View:
    return {
        "operation_id": op.operation_id,
        "name": op.name,
        "provider": op.provider,
        "account": op.account,
        "provider_job_id": op.provider_job_id,
        "task": op.task,
        "owner": op.owner,
        "submitted_by": op.submitted_by,
        "tracked": op.is_tracked,
        "resubmit_of": op.resubmit_of,
        "group": op.group,
        "params": dict(op.params),
        "credential": op.credential,
        "contract": op.contract,
        "request_fingerprint": op.request_fingerprint,
    }


def _standing(op: Operation, now: datetime) -> View:
    """What is known of the job; a result only where it ended well or partly (G3)."""
    counts = op.counts
    return {
        "phase": op.phase.value,
        "done": op.phase in DONE_WORDS,
        "last_known_state": op.last_known_state,
        "state_class": op.state_class.value if op.state_class else None,
        "state_since": stamp(op.state_since),
        "observed_at": stamp(op.observed_at),
        "progress": op.progress_share,
        "message": op.message,
        "error": {"code": op.error.code, "text": op.error.text} if op.error else None,
        "counts": {name: getattr(counts, name) for name in ("total", "processed", "succeeded", "failed")} if counts else None,
        "errors_url": op.errors_url,
        "result": _result(op),
        "late": op.is_late,
        "stalled": stalled_since(op, now) is not None,
        "unchecked_since": stamp(unchecked_since(op, now)),
        "delivery": op.delivery.value,
        "last_http_status": op.last_http_status,
        "last_http_at": stamp(op.last_http_at),
        "last_request_id": op.last_request_id,
        "provider_started_at": stamp(op.provider_started_at),
        "provider_ended_at": stamp(op.provider_ended_at),
        "provider_expires_at": stamp(op.provider_expires_at),
        "estimated_duration_seconds": op.estimated_seconds,
    }


def _bounds(op: Operation, now: datetime) -> View:
    """Times, limits and counters; in `budget`, original, granted and used stand apart, and so does a person's time (H9)."""
    return {
        "started_at": stamp(op.started_at),
        "submitted_at": stamp(op.submitted_at),
        "ended_at": stamp(op.ended_at),
        "elapsed_seconds": elapsed_seconds(op, now),
        "deadline_at": stamp(op.deadline_at),
        "business_deadline_at": stamp(op.business_deadline_at),
        "stops_at": stamp(deadline(op)),
        "stops_by": "deadline" if deadline(op) == op.deadline_at else "business_deadline",
        "max_status_requests": op.max_status_requests,
        "status_requests_used": op.status_requests_used,
        "max_transport_failures": op.max_transport_failures,
        "transport_failures_used": op.transport_failures_used,
        "max_transport_failures_in_a_row": op.max_transport_failures_in_a_row,
        "transport_failures_in_a_row": op.transport_failures_in_a_row,
        "max_rate_limits": op.max_rate_limits,
        "rate_limits_used": op.rate_limits_used,
        "attempts": op.attempts,
        "submit_attempts": op.submit_attempts,
        "waited_for_person_seconds": _waited_for_person(op, now),
        "budget": {
            "original": {
                "deadline_at": stamp(op.original.deadline_at),
                "status_requests": op.original.status_requests,
                "transport_failures": op.original.transport_failures,
                "rate_limits": op.original.rate_limits,
            },
            "granted": {
                "times": op.granted.times,
                "minutes": op.granted.minutes,
                "status_requests": op.granted.checks,
                "transport_failures": op.granted.failures,
                "rate_limits": op.granted.rate_limits,
            },
            "used": {
                "elapsed_seconds": elapsed_seconds(op, now),
                "status_requests": op.status_requests_used,
                "transport_failures": op.transport_failures_used,
                "rate_limits": op.rate_limits_used,
            },
        },
    }


def _plan(op: Operation) -> View:
    lease = op.lease
    return {
        "next_poll_at": stamp(op.next_poll_at),
        "delay_source": op.delay_source.value if op.delay_source else None,
        "not_before_at": stamp(op.not_before.at) if op.not_before else None,
        "lease": {"owner": lease.owner, "purpose": lease.purpose, "until_at": stamp(lease.until_at)} if lease else None,
    }


def elapsed_seconds(op: Operation, now: datetime) -> int:
    """Whole seconds since the record began, up to its end where it has ended."""
    return max(0, int(((op.ended_at or now) - op.started_at).total_seconds()))


def _waited_for_person(op: Operation, now: datetime) -> float:
    """Seconds in which nothing was sent because a person had to decide, the present wait included."""
    present = (now - op.escalation.since).total_seconds() if op.escalation else 0.0
    return round(op.waited_for_person_ms / 1_000 + max(0.0, present), 3)


def _result(op: Operation) -> View | None:
    found = op.result
    if found is None or op.phase not in (Phase.SUCCEEDED, Phase.COMPLETED_WITH_ERRORS):
        return None
    return {
        "is_inline": found.has_inline,
        "inline": found.inline,
        "url": found.url,
        "result_id": found.result_id,
        "size": found.size,
        "sha256": found.sha256,
        "file": found.file,
    }


def _escalation(op: Operation, options: list[View]) -> View | None:
    asked = op.escalation
    if asked is None:
        return None
    return {
        "reason": asked.reason.value,
        "text": reason_text(asked.reason),
        "detail": asked.detail,
        "since": stamp(asked.since),
        "options": options,
    }


def _look(op: Operation) -> View | None:
    look = op.look
    if look is None:
        return None
    return {
        "reason": look.reason.value,
        "text": reason_text(look.reason),
        "since": stamp(look.since),
        "answer": look.answer,
        "answered_by": look.answered_by,
    }


def _attention(op: Operation) -> View:
    """Who looks after the operation's item, until when it rests, what was noted (H7)."""
    care = op.attention
    return {
        "assigned_to": care.assigned_to,
        "assigned_at": stamp(care.assigned_at),
        "snoozed_until": stamp(care.snoozed_until),
        "notified_at": stamp(care.notified_at),
        "notice_result": care.notice_result.value if care.notice_result is not None else None,
        "notes": [{"by": note.by, "at": stamp(note.at), "text": note.text} for note in care.notes],
    }


def _permit(op: Operation) -> View | None:
    permit = op.permit
    return {"purpose": permit.purpose, "checks": permit.checks, "until_at": stamp(permit.until_at)} if permit else None


def hold_view(op: Operation, account: Account | None, now: datetime) -> View | None:
    """Why the operation's whole account sends nothing, since when, and until when where that is known (B9, B11).

    The operation that carries the question about a refused credential is escalated, not held; deadlines run on.
    """
    if account is None or op.phase not in (Phase.WAITING, Phase.SUBMITTING):
        return None
    if account.denied is not None and is_denied(account, op.credential):
        return {
            "reason": Reason.AUTHORIZATION_DENIED.value,
            "since": stamp(account.denied.since),
            "until_at": None,
            "escalated_operation": carrier(account, op.credential),
        }
    if account.hold_until_at is not None and account.hold_until_at > now:
        began, until = stamp(account.hold_since_at), stamp(account.hold_until_at)
        return {"reason": "account_hold", "since": began, "until_at": until, "escalated_operation": None}
    return None


# ---- options -----------------------------------------------------------------------------------------------------------------
def _open_options(op: Operation, now: datetime, contract: Contract | None, new_digest: str | None) -> tuple[Option, ...]:
    """What may be chosen right now."""
    from jobconsole.core.commands.decisions import open_options  # heavy, and lists show no options

    return open_options(op, contract, now, new_digest)


def _last_options(op: Operation) -> tuple[Option, ...]:
    """What the record says was offered."""
    if op.phase.is_terminal:
        return look_options(op)
    return op.escalation.options if op.escalation else ()


def option_view(option: Option, op: Operation, now: datetime, contract: Contract | None) -> View:
    """One option: its bounds as numbers, its cost, effect and what it changes in words (H2)."""
    said = option_words(option, op, now, contract)
    return {
        "name": option.name,
        "title": said.title,
        "effect": option.effect,
        "cost": said.cost,
        "change": said.change,
        "text": said.text,
        "minutes": option.minutes,
        "checks": option.checks,
        "failures": option.failures,
        "rate_limits": option.rate_limits,
        "times_left": option.times_left,
        "until_at": stamp(option.until_at),
        "credentials": list(option.credentials),
        "url": _console_url(op, contract) if option.name == "inspect" else None,
        "needs_reason": option.name in NEEDS_REASON_TEXT,
        "no_purpose": no_purpose(option.name, op, now),
    }


def _console_url(op: Operation, contract: Contract | None) -> str | None:
    """The provider's console for this job; None where the contract names none, or the job has no id yet."""
    if contract is None or contract.console_url is None:
        return None
    defaults = {name: param.default for name, param in contract.params.items()}
    try:
        return fill_url(contract.console_url, {**defaults, **op.params, "job_id": op.provider_job_id})
    except InvalidValue:
        return None


# ---- actions -----------------------------------------------------------------------------------------------------------------
def action_view(action: Action) -> View:
    """The JSON of an action: who asked, who approved, when it started and ended, what came of it (A3)."""
    return {
        "action_id": action.action_id,
        "operation_id": action.operation_id,
        "kind": action.kind,
        "state": action.state.value,
        "requested_at": stamp(action.requested_at),
        "requested_by": action.requested_by,
        "approved_by": action.approved_by,
        "attempts": action.attempts,
        "owner": action.owner,
        "started_at": stamp(action.started_at),
        "ended_at": stamp(action.ended_at),
        "outcome": action.outcome,
        "http_status": action.http_status,
        "detail": action.detail,
    }


def stamp(at: datetime | None) -> str | None:
    """RFC 3339 UTC with `Z` and milliseconds; None stays None."""
    return None if at is None else timestamp(at)
