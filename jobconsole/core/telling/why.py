"""Why? For any second of an operation's life: why it was checked then, why not earlier, what comes next (SPEC U7).

Only this file decides the answer, so that terminal, notebook, command line and agent give the same words. The past is told from
the events alone, the present from the record. Foreign text is inert; times are UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobconsole.core.contracts.contract import Contract
from jobconsole.core.deciding.account import Account
from jobconsole.core.deciding.escalation import CONTRACT_MEND, WITHOUT_CONTRACT, look_options
from jobconsole.core.deciding.stall import stalled_since
from jobconsole.core.events import Kind
from jobconsole.core.moments import aware
from jobconsole.core.operation import Operation
from jobconsole.core.telling.event_group import Event, moment
from jobconsole.core.telling.plan_reason import because, not_earlier
from jobconsole.core.telling.standing import Standing, standing_after, standing_now
from jobconsole.core.telling.story import story
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.views import hold_view, operation_view
from jobconsole.core.telling.wording import clock_text, counted, reason_text, says_more, words
from jobconsole.core.vocabulary import Phase, Reason

_SECOND = timedelta(seconds=1)
_LONGEST = 200  # characters of foreign text


@dataclass(frozen=True, slots=True)
class _Beside:
    """What is known beside the record and its events."""

    account: Account | None
    contract: Contract | None
    new_digest: str | None


def why(
    op: Operation,
    events: Iterable[Mapping[str, Any]],
    at: datetime | None,
    now: datetime,
    account: Account | None,
    contract: Contract | None,
    new_digest: str | None = None,
) -> str:
    """A few plain sentences about the second `at`, or about now where it is None or lies ahead.

    `events` are the operation's parsed lines in chain order (others are passed over); `account` is its own, where known;
    `contract` judges it, None where it is lost; `new_digest` is that of the contract file as it is now (X13).
    Raises `InvalidValue` for a time without a zone.
    """
    beside = _Beside(account, contract, new_digest)
    mine = [event for event in events if event.get("operation_id") == op.operation_id]
    if at is None:
        return _present(op, mine, now, beside)
    at = aware(at, "the second to explain").replace(microsecond=0)
    if at > now:
        return f"{clock_text(at, now)} has not come yet. {_present(op, mine, now, beside)}"
    past = [event for event in mine if moment(event["at"]) < at + _SECOND]
    if not past:
        begun = f"the operation begins at {clock_text(op.started_at, at)}"
        return f"Nothing was sent at {clock_text(at, now)}: {begun}." if at < op.started_at else _unrecorded(at, now)
    number = _check_within(mine, at)
    if number is not None:
        return _checked(mine, number, now, contract)
    return _unchecked(op, mine, len(past), at, now, beside)


def _unrecorded(at: datetime, now: datetime) -> str:
    return f"The audit at hand tells nothing about {clock_text(at, now)}."


# ---- a second with a check -----------------------------------------------------------------------------------------------
def _check_within(events: Sequence[Event], at: datetime) -> int | None:
    """The reservation made, or answered, within the second that begins at `at`."""
    reserved: int | None = None
    answered: int | None = None
    for number, event in enumerate(events):
        is_within = at <= moment(event["at"]) < at + _SECOND
        if event.get("kind") == Kind.CHECK_RESERVED:
            if is_within:
                return number
            reserved = number
        elif event.get("kind") == Kind.CHECK_ANSWERED and is_within and answered is None:
            answered = reserved
    return answered


def _checked(events: Sequence[Event], number: int, now: datetime, contract: Contract | None) -> str:
    reserved, before = events[number], standing_after(events[:number])
    at, token = moment(reserved["at"]), reserved.get("lease_token")
    since = events[number:]
    is_answered = any(each.get("lease_token") != token or each.get("kind") == Kind.CHECK_ANSWERED for each in since)
    after = f"{next(story(since))}." if is_answered else "its answer; the request is under way."
    return f"Checked at {clock_text(at, now)} because {_reason_of(reserved, before, at, contract)}. Next: {after}"


def _reason_of(reserved: Event, before: Standing, at: datetime, contract: Contract | None) -> str:
    if reserved.get("purpose") == "confirm":
        return "a success is confirmed by a second look; not earlier: the first look had to say succeeded"
    if before.token is not None and reserved.get("lease_token") == before.token:
        return "the request before it was redirected or found its connection closed; each request is counted by itself"
    return f"{because(before, at)}; not earlier: {not_earlier(before, contract)}"


# ---- a second without one ------------------------------------------------------------------------------------------------
def _unchecked(
    op: Operation,
    events: Sequence[Event],
    count: int,
    at: datetime,
    now: datetime,
    beside: _Beside,
) -> str:
    standing = standing_after(events[:count])
    told = _situation(standing, at, now, beside.contract)
    following = next(story(events[count:]), None)
    if following is not None:
        return f"{told} Next: {following}."
    return f"{told} {_ahead(op, standing_now(op, events), now, beside)}"


def _present(op: Operation, events: Sequence[Event], now: datetime, beside: _Beside) -> str:
    standing = standing_now(op, events)
    hold = hold_view(op, beside.account, now)
    if beside.contract is None and _is_idle(op, standing):
        told = f"Nothing can be asked: the contract that it was started with is lost; {CONTRACT_MEND}."
    elif hold is not None and standing.token is None:
        told = _held(hold, op, now)
    else:
        told = _situation(standing, now, now, beside.contract)
    return " ".join([told, *_stalled(op, now), *_narrowed(op, beside), _ahead(op, standing, now, beside)])


def _is_idle(op: Operation, standing: Standing) -> bool:
    """Whether it goes on and no request is under way."""
    is_on = op.phase in (Phase.WAITING, Phase.SUBMITTING) or op.permit is not None
    return is_on and standing.token is None and standing.action is None


def _narrowed(op: Operation, beside: _Beside) -> Iterator[str]:
    """That less may be chosen than when the person was asked: the contract was lost since."""
    if beside.contract is not None or op.escalation is None or op.permit is not None:
        return
    if any(option.name not in WITHOUT_CONTRACT for option in op.escalation.options):
        yield f"The contract that it was started with is lost, and what needs it cannot be chosen; {CONTRACT_MEND}."


def _stalled(op: Operation, now: datetime) -> Iterator[str]:
    """That the job looks stalled, which changes nothing (H12)."""
    if (since := stalled_since(op, now)) is not None:
        yield f"It looks stalled: no change of state or progress since {clock_text(since, now)}; its bounds are as they were."


def _situation(standing: Standing, at: datetime, now: datetime, contract: Contract | None) -> str:
    """How it stood at `at`, and why nothing, or what, was sent."""
    if standing.phase.is_terminal:
        ended = f" at {clock_text(standing.ended_at, at)}" if standing.ended_at else ""
        return f"Nothing is sent: it ended{ended} as {words(standing.phase)}."
    if standing.action is not None:
        return _acting(standing, at)
    if standing.token is not None:
        since = f" since {clock_text(standing.reserved_at, at)}" if standing.reserved_at else ""
        return f"A status request is under way{since}: request {standing.used:,} of {standing.allowed:,}."
    if standing.phase is Phase.SUBMITTING:
        return "The submission is on record and waits to be sent; nothing is asked before it is accepted."
    if standing.planned_at is None:
        return _asking(standing, at) if standing.phase is Phase.ESCALATED else _nothing_fits(standing, at)
    planned = clock_text(standing.planned_at, at)
    reason = f"because {because(standing, at)}; not earlier: {not_earlier(standing, contract)}."
    if at < standing.planned_at:
        return f"Nothing is sent at {clock_text(at, now)}: the next check is planned for {planned} {reason}"
    return f"A check is due since {planned} {reason} No worker has taken it yet."


def _acting(standing: Standing, at: datetime) -> str:
    since = f" since {clock_text(standing.action_at, at)}" if standing.action_at else ""
    if standing.action == "submit":
        return f"The submission is on its way{since}; nothing else is sent until its answer is known, or two jobs might run."
    return f"A {standing.action} is on its way{since}; its answer alone ends nothing, the next check does."


def _asking(standing: Standing, at: datetime) -> str:
    since = f" since {clock_text(standing.asked_since, at)}" if standing.asked_since else ""
    said = words(standing.reason)
    if standing.reason == Reason.REQUEST_BUDGET_EXHAUSTED:
        said += f" ({standing.used:,} of {standing.allowed:,})"
    if standing.reason == Reason.DEADLINE_EXCEEDED and standing.stops_at is not None:
        said += f" ({clock_text(standing.stops_at, at)})"
    if says_more(standing.detail):
        said += f": {inert(standing.detail, _LONGEST)}"
    return f"Nothing is sent: it waits for a person{since}: {said}."


def _nothing_fits(standing: Standing, at: datetime) -> str:
    stops = f" {clock_text(standing.stops_at, at)}" if standing.stops_at else ""
    return f"Nothing is sent: the next delay would pass the deadline{stops}, and no check fits before it."


def _held(hold: Mapping[str, Any], op: Operation, now: datetime) -> str:
    account = inert(op.account, _LONGEST)
    since = f" since {clock_text(moment(hold['since']), now)}" if hold["since"] else ""
    if hold["reason"] == Reason.AUTHORIZATION_DENIED:
        asks = f" ({hold['escalated_operation']})" if hold["escalated_operation"] else ""
        return f"Nothing is sent: account {account} is held{since}: its credential was refused, one question is open{asks}."
    until = clock_text(moment(hold["until_at"]), now)
    return f"Nothing is sent: account {account} is held{since} until {until} because the provider asked for it."


# ---- what comes next -----------------------------------------------------------------------------------------------------
def _ahead(op: Operation, standing: Standing, now: datetime, beside: _Beside) -> str:
    """What comes next, seen from now."""
    if op.phase.is_terminal:
        if op.look is None or not look_options(op):
            return "Nothing comes next."
        return f"Next: somebody is to see it: {reason_text(op.look.reason)}."
    stops = clock_text(standing.stops_at, now) if standing.stops_at else "unknown"
    if op.phase is Phase.ESCALATED and op.permit is None:
        is_lost = beside.contract is None
        shown = operation_view(op, now, beside.account, beside.contract, beside.new_digest, is_contract_lost=is_lost)
        names = ", ".join(words(option["name"]) for option in shown["options"]) or "close"
        return f"Next: a person decides ({names}); nothing happens by itself."
    if standing.token is not None or standing.action is not None:
        return "Next: its answer decides."
    if beside.contract is None and op.due_at is not None:
        look = "the look that is due since" if op.due_at <= now else "the look at"
        return f"Next: {look} {clock_text(op.due_at, now)} asks a person."
    if op.phase is Phase.SUBMITTING:
        due = next((each.due_at for each in op.open_actions.values() if each.due_at is not None), None)
        return f"Next: it is sent at {clock_text(due, now)}." if due else f"Next: at the deadline {stops} a person is asked."
    hold = hold_view(op, beside.account, now)
    if hold is not None and hold["until_at"] is None:
        return "Next: a person answers that question; then the checks go on, as long as the deadline allows."
    if standing.planned_at is None:
        return f"Next: at the deadline {stops} a person is asked."
    planned = max(standing.planned_at, moment(hold["until_at"])) if hold is not None else standing.planned_at
    left = counted(max(0, standing.allowed - standing.used), "request")
    return f"Next: the check at {clock_text(planned, now)}; {left} left until the deadline {stops}."
