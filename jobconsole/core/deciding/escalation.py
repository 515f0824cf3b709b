"""Which reason permits which options, and with what bounds (SPEC 14, H1-H3).

Only this file decides what a person may choose. The table is data; `options_for` turns its names into options with their cost,
and leaves out what would not help or what the contract does not document (C9, X6). `decisions.py` applies what was chosen.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from jobconsole.core.deciding.schedule import final_check_at
from jobconsole.core.operation import FINAL_ANSWERS, Operation, Option, deadline, has_job
from jobconsole.core.vocabulary import Phase, Reason

if TYPE_CHECKING:
    from jobconsole.core.contracts.contract import Contract

OPTIONS: dict[Reason, tuple[str, ...]] = {
    Reason.DEADLINE_EXCEEDED: ("extend",),
    Reason.REQUEST_BUDGET_EXHAUSTED: ("extend",),
    Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE: ("extend",),
    Reason.TRANSPORT_FAILURES_EXHAUSTED: ("extend", "pause", "check_once"),
    Reason.RATE_LIMITED: ("pause", "extend"),
    Reason.UNKNOWN_STATE: ("pause", "adopt_contract"),
    Reason.NEEDS_HUMAN_AT_PROVIDER: ("pause", "adopt_contract"),
    Reason.CONTRADICTORY_RESPONSE: ("pause", "check_once"),
    Reason.INTEGRATION_ERROR: ("pause", "adopt_contract"),
    Reason.JOB_NOT_FOUND: ("pause", "adopt_contract"),
    Reason.AUTHORIZATION_DENIED: ("credential_mended", "use_credential"),
    Reason.SUBMISSION_AMBIGUOUS: ("replay_submit", "adopt", "submit_again"),
    Reason.RESULT_INVALID: ("accept_result", "check_once"),
    Reason.CANCEL_UNCONFIRMED: ("cancel", "check_once"),
    Reason.APPROVAL_REQUIRED: ("approve_once",),
}
"""Section 14 as far as decisions go. Every decision also offers `inspect`, `close`, and `cancel` where documented."""

LOOK_ANSWERS: dict[Reason, tuple[str, ...]] = {
    Reason.PROVIDER_FAILURE: ("acknowledge", "submit_again"),
    Reason.SUBMISSION_REFUSED: ("acknowledge", "submit_again"),
    Reason.COMPLETED_WITH_ERRORS: ("review", "accept", "reject"),
    Reason.JOB_EXPIRED: ("acknowledge", "submit_again"),
    Reason.NO_OUTCOME: ("acknowledge", "submit_again"),
    Reason.CANCELLED_ELSEWHERE: ("acknowledge", "submit_again"),
}
"""Answers to an item that only asks to be seen (H13)."""

NEEDS_REASON_TEXT = frozenset({"close", "accept_result", "submit_again"})
"""Options that need a reason in words (H5)."""

ONE_LOOK = frozenset({"check_once", "adopt_contract", "credential_mended", "use_credential", "approve_once"})
"""Options that permit one look at the job, and nothing else."""

WITHOUT_CONTRACT = frozenset({"adopt_contract", "submit_again", "close"})
"""Options that need nothing of the contract that judges the operation; the first two take the file as it is now (X13)."""

CONTRACT_MEND = "restore contracts/, or the provider's file as it was"
"""How a person gets a lost contract back."""

EFFECTS: dict[str, str] = {
    "check_once": "sends one more status request within 10 minutes, then decides again",
    "pause": "sends exactly one check at that time",
    "adopt_contract": "judges this job by the contract file as it is now, and checks once",
    "credential_mended": "reads the credential again and sends one probe; refused again, it is held again",
    "use_credential": "asks with another credential that the contract names, and sends one probe",
    "replay_submit": "sends the same submission again with the same idempotency token: the provider treats it as one",
    "adopt": "goes on with the job id that you give",
    "submit_again": "submits a new operation; the first may still run",
    "approve_once": "sends exactly one request",
    "inspect": "opens the provider's console",
    "close": "stops watching without knowing the outcome; the job itself is not touched",
    "acknowledge": "records that you have seen it",
    "review": "records that you look into it; it stays in the inbox",
    "accept": "accepts the partial outcome",
    "reject": "rejects the partial outcome",
}


def options_for(
    op: Operation, reason: Reason, contract: Contract | None, now: datetime, *, contract_is_newer: bool = True
) -> tuple[Option, ...]:
    """The options of an escalation, most useful first, each with its bounds; `inspect`, `close`, `cancel` at the end.

    `contract` is None where it is lost: what needs it is left out.
    """
    if contract is None:
        return _options_without_contract(op, reason, has_file=contract_is_newer)
    if is_job_unnamed(op):
        return (Option(name="adopt", effect=EFFECTS["adopt"]), *_always(contract))
    made = [_option(name, op, reason, contract, now, contract_is_newer) for name in OPTIONS[reason]]
    if "cancel" not in OPTIONS[reason] and reason is not Reason.AUTHORIZATION_DENIED:
        made.append(_option("cancel", op, reason, contract, now, contract_is_newer))
    return (*(option for option in made if option is not None), *_always(contract))


def is_job_unnamed(op: Operation) -> bool:
    """Whether the submission was accepted by an answer that names no job.

    Nothing can be asked about it until a person gives its id, and the submission is never sent again (CONTRACT `[submit]`):
    that job may run, and cost.
    """
    return op.submitted_at is not None and not has_job(op)


def _always(contract: Contract) -> tuple[Option, ...]:
    """What every decision offers."""
    names = ("inspect", "close") if contract.console_url else ("close",)
    return tuple(Option(name=name, effect=EFFECTS[name]) for name in names)


def _options_without_contract(op: Operation, reason: Reason, *, has_file: bool) -> tuple[Option, ...]:
    """What is left where the contract is lost; `has_file`: the catalogue has a contract of this provider now."""
    names = [name for name in OPTIONS[reason] if name in WITHOUT_CONTRACT and has_file and not is_job_unnamed(op)]
    if op.request_body is None:
        names = [name for name in names if name != "submit_again"]
    return tuple(Option(name=name, checks=int(name in ONE_LOOK), effect=EFFECTS[name]) for name in (*names, "close"))


def waiting_options(op: Operation, contract: Contract | None, now: datetime) -> tuple[Option, ...]:
    """What a person may do to an operation that waits: extend, cancel, close ("Details decided").

    Only close where the contract is lost (None).
    """
    made = [_option(name, op, None, contract, now, False) for name in ("extend", "cancel")] if contract is not None else []
    made.append(Option(name="close", effect=EFFECTS["close"]))
    return tuple(option for option in made if option is not None)


def look_options(op: Operation) -> tuple[Option, ...]:
    """What a person may answer to a look; nothing once it was answered finally."""
    if op.look is None or op.look.answer in FINAL_ANSWERS:
        return ()
    names = LOOK_ANSWERS[op.look.reason]
    if op.request_body is None or op.is_tracked:
        names = tuple(n for n in names if n != "submit_again")
    return tuple(Option(name=n, effect=EFFECTS[n]) for n in names)


def item_since(op: Operation) -> datetime | None:
    """Since when the operation is an item of the inbox; None where it needs nobody (H7, H13)."""
    if op.escalation is not None:
        return op.escalation.since
    return op.look.since if op.look is not None and look_options(op) else None


def _option(
    name: str, op: Operation, reason: Reason | None, contract: Contract, now: datetime, contract_is_newer: bool
) -> Option | None:
    if name == "extend":
        return _extend(op, reason, contract, now)
    if name == "pause":
        return _pause(op, contract, now)
    if name == "cancel":
        return _cancel(op, contract)
    if name == "check_once" and not has_job(op):
        return None
    if name == "adopt_contract" and not contract_is_newer:
        return None
    if name == "replay_submit" and (contract.submit is None or contract.submit.idempotency is None):
        return None
    if name in ("replay_submit", "submit_again") and op.request_body is None:
        return None
    if name == "accept_result":
        return None  # nothing validates results against a schema yet, so there is none to accept
    return _one_look(name, op, contract) if name in ONE_LOOK else Option(name=name, effect=EFFECTS[name])


def _one_look(name: str, op: Operation, contract: Contract) -> Option | None:
    """One request; where the contract confirms a success, that is part of the look (X24)."""
    others: tuple[str, ...] = ()
    if name == "use_credential":
        others = tuple(ref for ref in contract.auth.others if ref != (op.credential or contract.auth.secret))
        if not others:
            return None
    if contract.confirm is None:
        return Option(name=name, checks=1, credentials=others, effect=EFFECTS[name])
    return Option(name=name, checks=2, credentials=others, effect=f"{EFFECTS[name]}, and one more to confirm a success")


def _extend(op: Operation, reason: Reason | None, contract: Contract, now: datetime) -> Option | None:
    ext = contract.budget.extension
    left = ext.times - op.granted.times
    if left <= 0 or _leaves_spent(op, ext.minutes, ext.checks, ext.failures, ext.rate_limits, now):
        return None
    if reason is Reason.PROVIDER_WAIT_EXCEEDS_DEADLINE and not covers_wait(op, contract, ext.minutes, now):
        return None
    effect = "adds time and checks; the next check follows at once unless the provider asked to wait"
    until = max(now, op.deadline_at) + timedelta(minutes=ext.minutes)
    return Option(
        name="extend",
        minutes=ext.minutes,
        checks=ext.checks,
        failures=ext.failures,
        rate_limits=ext.rate_limits,
        times_left=left,
        effect=_past_business_deadline(op, until) + effect,
    )


def passes_business_deadline(op: Operation, minutes: int, now: datetime) -> bool:
    """Whether `minutes` more would watch past the business deadline, which must be said in so many words (B14)."""
    return is_past_business_deadline(op, max(now, op.deadline_at) + timedelta(minutes=minutes))


def is_past_business_deadline(op: Operation, until: datetime) -> bool:
    """Whether watching until then passes a business deadline that nobody has waived."""
    if op.business_deadline_at is None or op.is_business_deadline_waived:
        return False
    return until > op.business_deadline_at


def _past_business_deadline(op: Operation, until: datetime) -> str:
    if not is_past_business_deadline(op, until):
        return ""
    return f"goes past the business deadline {op.business_deadline_at:%Y-%m-%d %H:%M:%S} UTC: "


def covers_wait(op: Operation, contract: Contract, minutes: int, now: datetime) -> bool:
    """Whether the deadline after `minutes` more lies behind the provider's wait, with room for one request."""
    if op.not_before is None:
        return True
    extended = max(now, op.deadline_at) + timedelta(minutes=minutes)
    return op.not_before.at <= extended - contract.status.timeout - timedelta(seconds=1)


def _leaves_spent(op: Operation, minutes: int, checks: int, failures: int, rate_limits: int, now: datetime) -> bool:
    """X6: an extension that leaves a spent limit spent is not offered."""
    return (
        (minutes <= 0 and deadline(op) <= now)
        or (op.status_requests_used >= op.max_status_requests + checks)
        or (op.transport_failures_used >= op.max_transport_failures + failures)
        or (op.transport_failures_in_a_row >= op.max_transport_failures_in_a_row + failures)
        or (op.rate_limits_used >= op.max_rate_limits + rate_limits)
    )


def leaves_spent(op: Operation, option: Option, now: datetime) -> bool:
    """Whether a limit would still be spent after `option`'s grant."""
    return _leaves_spent(op, option.minutes, option.checks, option.failures, option.rate_limits, now)


def needs_extension(contract: Contract, until: datetime, op: Operation) -> bool:
    """Whether one check at `until` does not fit before the deadline (X12)."""
    return pause_ends(contract, until) > deadline(op)


def _pause(op: Operation, contract: Contract, now: datetime) -> Option | None:
    """One check at now + extension.minutes: inside the bounds, or else as an extension while one is left (X12)."""
    minutes = contract.budget.extension.minutes
    until = now + timedelta(minutes=minutes)
    if op.status_requests_used >= op.max_status_requests or not has_job(op):
        return None
    if until > final_check_at(op, contract) and op.granted.times >= contract.budget.extension.times:
        until = final_check_at(op, contract)
        if until <= now:
            return None
    effect = _past_business_deadline(op, pause_ends(contract, until)) + EFFECTS["pause"]
    return Option(name="pause", minutes=minutes, checks=1, until_at=until, effect=effect)


def pause_ends(contract: Contract, until: datetime) -> datetime:
    """The earliest deadline under which one whole check at `until` fits (X5, X12)."""
    return until + contract.status.timeout + timedelta(seconds=1)


def _cancel(op: Operation, contract: Contract) -> Option | None:
    """Only where documented, with its consequence in words; its follow-up is part of the cost (C9, X11)."""
    if contract.cancel is None or "cancel" in op.open_actions or not has_job(op):
        return None
    if op.phase not in (Phase.WAITING, Phase.ESCALATED):
        return None
    return Option(name="cancel", checks=4, minutes=10, effect=contract.cancel.effect)
