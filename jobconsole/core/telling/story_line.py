"""How one line of the story reads (SPEC X22).

Only this file decides the words for an event, or for a few that are told together. `story.py` calls it and adds the time.
Everything that may come from outside is made inert and cut here (U3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from jobconsole.core.durations import duration_text
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import actor_text, clock_text, counted, says_more, source_text, words
from jobconsole.core.vocabulary import DelaySource, Delivery

Event: TypeAlias = Mapping[str, Any]

_CALL_ERRORS = frozenset(CallError)
_BESIDE = frozenset({Kind.STATE_CHANGED, Kind.HINT_REJECTED, Kind.HELD, Kind.RELEASED})
_SHORT, _LONG = 80, 200  # characters of a word, of a sentence


class Group:
    """The events of one line: the leading one, and what followed from it in the same transaction."""

    __slots__ = ("events", "lead")

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events
        self.lead = next((event for event in events if event.get("kind") not in _BESIDE), events[0])

    @property
    def operation_id(self) -> str | None:
        """Whose events these are; None for the store's own."""
        found: str | None = self.lead.get("operation_id")
        return found

    @property
    def has_lease(self) -> bool:
        """Whether a request may still be under way after these events."""
        return self.events[-1].get("lease_token") is not None

    def of(self, kind: Kind) -> Event | None:
        """The group's event of this kind."""
        return next((event for event in self.events if event.get("kind") == kind), None)


def moment(stamped: str) -> datetime:
    """The time that a stored line holds."""
    return datetime.fromisoformat(stamped)


def sentence(group: Group, requests: int) -> str | None:
    """The words for a group; None where nothing is to be told. `requests` is how many reservations fold into it."""
    lead = group.lead
    kind = lead.get("kind")
    if kind == Kind.CHECK_ANSWERED:
        return _joined(*_answer(group), f"{requests} requests" if requests > 1 else "", *_follows(group))
    write = _SENTENCES.get(str(kind))
    return write(group) if write is not None else _plainly(group)


def alone(event: Event) -> str:
    """The words for one event by itself, for a list in which nothing folds; a reservation then says how many are used."""
    kind = event.get("kind")
    if kind == Kind.CHECK_RESERVED:
        purpose = "" if event.get("purpose") == "status" else f" ({words(inert(str(event.get('purpose')), _SHORT))})"
        return f"request {event.get('status_requests_used')} of {event.get('max_status_requests')} reserved{purpose}"
    if kind == Kind.ACTION_STARTED:
        return f"{_act(event)} goes out"
    if kind == Kind.STATE_CHANGED:
        before, after = event.get("before_state") or "unknown", event.get("job_state") or "unknown"
        return f"state {inert(str(before), _SHORT)} -> {inert(str(after), _SHORT)}"
    if kind == Kind.DECIDED:
        return _choice(event, f" ({_why(event).removeprefix('reason: ')})")  # a row is cut at its end: not the reason goes
    return sentence(Group([event]), 1) or _plainly(Group([event]))


def notes_of(group: Group) -> Iterator[str]:
    """Lines of their own beside the sentence: what concerns the whole account, and hints that were not obeyed."""
    for event in group.events:
        if event is group.lead:
            continue
        note = _beside(event)
        if note is not None:
            yield note


# ---- answers -----------------------------------------------------------------------------------------------------------------
def _answer(group: Group) -> Iterator[str]:
    """What came back: a state, or an answer that says nothing about the job."""
    event = group.lead
    seen = event.get("observation") or {}
    status = event.get("http_status")
    if seen.get("verdict") in _CALL_ERRORS:
        detail = inert(str(event.get("detail") or ""), _LONG)
        yield f"received {status}" if status is not None else f"no answer: {detail}"
        if status is not None and status < 400 and group.of(Kind.ESCALATED) is None:
            yield detail.removeprefix(f"HTTP {status}: ")
        if seen.get("delivery") == Delivery.AMBIGUOUS:
            yield "delivery is ambiguous"
    else:
        state = seen.get("state")
        yield f"polled, state {inert(str(state), _SHORT) if state is not None else words(str(seen.get('verdict')))}"
    if (wait := seen.get("retry_after_s")) is not None:
        yield f"Retry-After {wait:.0f}"
    if (hint := seen.get("hint_s")) is not None:
        yield f"hint {hint:g} s"
    if (age := seen.get("age_s")) is not None:
        yield f"answer {age:g} s old"


def _follows(group: Group) -> Iterator[str]:
    """What became of the operation: its end, a question, another look, or the next poll."""
    escalated, closed = group.of(Kind.ESCALATED), group.of(Kind.CLOSED)
    if escalated is not None:
        yield from _escalated(escalated, told=group.lead.get("detail") if group.lead.get("http_status") is None else None)
    elif closed is not None:
        yield f"ended as {words(str(closed.get('phase')))}"
        if any((document or {}).get("is_late") for document in (closed.get("set") or {}).values()):
            yield "late"
    elif group.lead.get("decision") == "confirm":
        yield "a second look is to confirm it"
    else:
        yield next_poll(group.events[-1])


def _escalated(event: Event, told: str | None = None) -> Iterator[str]:
    """The reason, and its sentence where that says more than the reason, the code or what was `told` already."""
    reason, detail = str(event.get("reason")), str(event.get("detail") or "")
    is_told = detail and detail != told and says_more(detail)
    yield f"{words(reason)}: {inert(detail, _LONG)}" if is_told else words(reason)
    yield "escalated"


def next_poll(event: Event) -> str:
    """`next poll 10:20:14 from local backoff`; the date stands with it where it is another day's."""
    planned, source, at = event.get("planned_at"), event.get("delay_source"), moment(event["at"])
    if planned is None:
        limit = event.get("deadline_at")
        return f"no further poll before the deadline {_clock(limit, at)}" if limit else "no further poll"
    if source == DelaySource.ACCOUNT_HOLD and moment(planned) <= at:
        return "waits with its account"
    return f"next poll {_clock(planned, at)} {source_text(str(source))}"


# ---- submissions and other actions -------------------------------------------------------------------------------------------
def _submitted(group: Group) -> str:
    """The record's beginning: a job that was adopted, or a submission that has still to go out."""
    lead = group.lead
    if lead.get("is_tracked"):
        return f"adopted job {_job_id(lead)}, {_bounds(lead)}"
    return f"recorded the submission, {_bounds(lead)}"


def _submit_answered(group: Group) -> str:
    lead = group.lead
    seen = lead.get("observation") or {}
    job = seen.get("job_id")
    begun = f"submitted job {inert(str(job), _SHORT)}" if job is not None else "submitted, followed by its status URL"
    if group.of(Kind.ESCALATED) is None and group.of(Kind.CLOSED) is None:
        return f"{begun}, {_bounds(lead)}"
    state = seen.get("state")
    return _joined(begun, _bounds(lead), f"state {inert(str(state), _SHORT)}" if state is not None else "", *_follows(group))


def _bounds(event: Event) -> str:
    deadline = _clock(event.get("deadline_at"), moment(event["at"]))
    return f"deadline {deadline}, budget {event.get('max_status_requests', 0)}"


def _job_id(event: Event) -> str:
    """A tracked job's id stands in the record that the event wrote."""
    for document in (event.get("set") or {}).values():
        if document and document.get("provider_job_id") is not None:
            return inert(str(document["provider_job_id"]), _SHORT)
    return "by its status URL"


def _action_requested(group: Group) -> str:
    """Who approved it stands first: that is what people look for."""
    lead = group.lead
    asked, approved = _who(lead), lead.get("approved_by")
    if approved is None:
        return f"{_act(lead)} asked for by {asked}"
    by = inert(actor_text(str(approved)), _SHORT)
    return _joined(f"{_act(lead)} approved by {by}", f"asked for by {asked}" if by != asked else "")


def _action_started(group: Group) -> str:
    return f"{_act(group.lead)} sent, no answer"


def _action_ended(group: Group) -> str:
    """How an action ended, and what follows; a submission that is accepted is told by its answer."""
    ended = group.of(Kind.ACTION_ENDED) or group.lead
    outcome, status, detail = str(ended.get("outcome")), ended.get("http_status"), str(ended.get("detail") or "")
    said = "outcome unknown" if outcome == "unknown" else words(outcome)
    if status is not None and str(status) not in said:
        said += f" ({status})"
    escalated, closed, again = group.of(Kind.ESCALATED), group.of(Kind.CLOSED), ended.get("next_at")
    parts = [f"{_act(ended)} {said}"]
    if escalated is not None:
        parts += _escalated(escalated)
    else:
        parts.append(inert(detail, _LONG))
        parts.append(f"sent again {_clock(again, moment(ended['at']))}" if again else "")
        parts.append(f"ended as {words(str(closed.get('phase')))}" if closed is not None else "")
        parts.append("checks go on until it is known how the job ends" if ended.get("action") == "cancel" else "")
    return _joined(*parts)


def _act(event: Event) -> str:
    action = str(event.get("action"))
    return "submission" if action == "submit" else inert(action, _SHORT)


# ---- people ------------------------------------------------------------------------------------------------------------------
def _decided(group: Group) -> str:
    """Who chose what, what it changed, what comes of it, and why (H5)."""
    lead = group.lead
    planned = [event for event in group.events if event.get("kind") in (Kind.EXTENDED, Kind.CHECK_PLANNED)]
    closed = group.of(Kind.CLOSED)
    return _joined(
        _choice(lead),
        next_poll(planned[-1]) if planned and planned[-1].get("planned_at") else "",
        f"ended as {words(str(closed.get('phase')))}" if closed is not None else "",
        _why(lead),
    )


def _choice(event: Event, why: str = "") -> str:
    effect = inert(str(event.get("effect", "")), _LONG).rstrip(".")
    return f"{_who(event)} chose {words(str(event.get('option')))}{why}: {effect}"


def _why(event: Event) -> str:
    given = str(event.get("reason_text") or "no reason given")
    return given if given == "no reason given" else f"reason: {inert(given, _LONG)}"


def _extended(group: Group) -> str:
    """What was granted, by itself; beside the decision that granted it, the limits before and after say so."""
    lead = group.lead
    nouns = (("minutes", "minute"), ("checks", "check"), ("failures", "failure"), ("rate_limits", "rate-limit answer"))
    more = ", ".join(counted(int(lead[name]), noun) for name, noun in nouns if lead.get(name))
    return f"{more or 'nothing'} more, extension {lead.get('times')}"


def _decision_refused(group: Group) -> str:
    lead = group.lead
    return f"{_who(lead)} chose {words(str(lead.get('option')))}, refused: {words(str(lead.get('why')))}"


def _item_changed(group: Group) -> str:
    """What became of an inbox item beside a decision (H7); who was told, and who could not be (H10)."""
    lead = group.lead
    match lead.get("change"):
        case "assigned" if lead.get("to") is None:
            return f"{_who(lead)} gave it back, it was with {inert(str(lead.get('before')), _SHORT)}"
        case "assigned":
            to = inert(str(lead["to"]), _SHORT)
            return f"{_who(lead)} takes care of it" if to == _who(lead) else f"{_who(lead)} gave it to {to}"
        case "snoozed":
            return f"{_who(lead)} snoozed it until {_clock(lead.get('until'), moment(lead['at']))}"
        case "woken":
            return f"{_who(lead)} ended its snooze"
        case "noted":
            return f"{_who(lead)} noted: {inert(str(lead.get('text')), _LONG)}"
        case "notified":
            return f"a message goes out by {inert(str(lead.get('channels')), _SHORT)}"
        case "reached" | "not_reached" | "unknown":
            return _notice_ended(lead)
    return _plainly(group)


def _notice_ended(event: Event) -> str:
    """What became of the message; an unknown end is said, and stays unknown."""
    channels, detail = (inert(str(event.get(name, "")), most) for name, most in (("channels", _SHORT), ("detail", _LONG)))
    match event.get("change"):
        case "reached":
            return f"{channels} took the message" + (f"; {detail}" if detail else "")
        case "not_reached":
            return f"nobody was reached by {channels}: {detail}"
    return f"nobody knows whether the message went out, and it is not sent again: {detail}"


def _who(event: Event) -> str:
    return inert(actor_text(str(event.get("actor", ""))), _SHORT)


# ---- what did not go as planned ----------------------------------------------------------------------------------------------
def _withheld(group: Group) -> str:
    lead = group.lead
    return _joined(f"not sent: {words(inert(str(lead.get('reason')), _LONG))}", "the request stays counted", next_poll(lead))


def _lease_lost(group: Group) -> str:
    lead = group.lead
    by = f" of {inert(actor_text(str(lead['lost_by'])), _SHORT)}" if lead.get("lost_by") else ""
    why = f": {inert(str(lead['reason']), _LONG)}" if lead.get("reason") else ""
    escalated = group.of(Kind.ESCALATED)
    return _joined(f"lease{by} lost{why}", "the request stays counted", *(_escalated(escalated) if escalated else ()))


def _late_answer(group: Group) -> str:
    lead = group.lead
    to = f" to {_act(lead)}" if lead.get("action") else ""
    job = f"job {inert(str(lead['answer_job_id']), _SHORT)}" if lead.get("answer_job_id") else ""
    state = f"state {inert(str(lead['answer_state']), _SHORT)}" if lead.get("answer_state") else ""
    return _joined(f"late answer{to}: {lead.get('http_status', 'nothing')}", state, job, "nothing is changed by it")


def _planned(group: Group) -> str:
    """A plan that moved by itself: the reason of not sending changed."""
    lead = group.lead
    reason = words(inert(str(lead.get("reason", "")), _LONG))
    if lead.get("action"):
        return f"{_act(lead)} not sent yet: {reason}"
    return _joined(f"not sent: {reason}", next_poll(lead))


def _stopped(group: Group) -> str:
    return _joined(*_follows(group))


def _aside(group: Group) -> str | None:
    return _beside(group.lead)


def _beside(event: Event) -> str | None:
    kind, account = event.get("kind"), inert(str(event.get("account", "")), _SHORT)
    if kind == Kind.HELD:
        if event.get("until"):
            return f"account {account} held until {_clock(event['until'], moment(event['at']))}"
        if event.get("spacing_ms"):
            return f"account {account} slowed to a request in {duration_text(timedelta(milliseconds=event['spacing_ms']))}"
        return None
    if kind == Kind.RELEASED:
        return f"account {account} released: {inert(str(event.get('reason', '')), _LONG)}"
    if kind == Kind.HINT_REJECTED:
        hint, value = inert(str(event.get("hint")), _SHORT), inert(str(event.get("value")), _SHORT)
        return f'hint rejected: {hint} "{value}", {inert(str(event.get("why")), _LONG)}'
    return None


_TOLD_BY_NAME = frozenset(
    (
        *("v", "chain", "seq", "tx", "batch", "at", "up", "boot", "operation_id", "op_seq", "kind", "actor", "set"),
        *("prev_hash", "hash", "revision", "phase", "job_state", "planned_at", "delay_source", "status_requests_used"),
        *("max_status_requests", "deadline_at", "lease_token", "key_id"),
    )
)


def _plainly(group: Group) -> str:
    """An event without words of its own, of a newer version too: its kind and the fields that only it has."""
    lead = group.lead
    simple = ((key, value) for key, value in lead.items() if isinstance(value, str | int | float) and value != "")
    own = (f"{words(str(key))} {value}" for key, value in simple if key not in _TOLD_BY_NAME)
    return inert(_joined(words(str(lead.get("kind"))), *own), _LONG)


_SENTENCES: Mapping[str, Callable[[Group], str | None]] = MappingProxyType(
    {
        Kind.SUBMITTED: _submitted,
        Kind.SUBMIT_ANSWERED: _submit_answered,
        Kind.ACTION_REQUESTED: _action_requested,
        Kind.ACTION_STARTED: _action_started,
        Kind.ACTION_ENDED: _action_ended,
        Kind.DECIDED: _decided,
        Kind.EXTENDED: _extended,
        Kind.DECISION_REFUSED: _decision_refused,
        Kind.ITEM_CHANGED: _item_changed,
        Kind.CHECK_RESERVED: lambda _: "reserved, no answer",
        Kind.CHECK_WITHHELD: _withheld,
        Kind.CHECK_PLANNED: _planned,
        Kind.LEASE_LOST: _lease_lost,
        Kind.LATE_ANSWER: _late_answer,
        Kind.ESCALATED: _stopped,
        Kind.CLOSED: _stopped,
        Kind.HELD: _aside,
        Kind.RELEASED: _aside,
        Kind.HINT_REJECTED: _aside,
        Kind.STATE_CHANGED: _aside,
    }
)


def _clock(stamped: str | None, beside: datetime) -> str:
    return "unknown" if stamped is None else clock_text(moment(stamped), beside)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
