"""How one line of the story reads (SPEC X22).

Only this file decides the words for an event, or for a few that are told together. `story.py` calls it and adds the time.
Everything that may come from outside is made inert and cut here (U3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType

from jobconsole.core.durations import duration_text
from jobconsole.core.events import Kind
from jobconsole.core.judging.answer import CallError
from jobconsole.core.telling import story_people
from jobconsole.core.telling.event_group import LONG, SHORT, Event, Group, clock, joined, moment, next_poll, plainly, who
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import actor_text, says_more, words
from jobconsole.core.vocabulary import Delivery

_CALL_ERRORS = frozenset(CallError)


def sentence(group: Group, requests: int) -> str | None:
    """The words for a group; None where nothing is to be told. `requests` is how many reservations fold into it."""
    lead = group.lead
    kind = lead.get("kind")
    if kind == Kind.CHECK_ANSWERED:
        return joined(*_answer(group), f"{requests} requests" if requests > 1 else "", *_follows(group))
    write = _SENTENCES.get(str(kind))
    return write(group) if write is not None else plainly(group)


def alone(event: Event) -> str:
    """The words for one event by itself, for a list in which nothing folds; a reservation then says how many are used."""
    kind = event.get("kind")
    if kind == Kind.CHECK_RESERVED:
        purpose = "" if event.get("purpose") == "status" else f" ({words(inert(str(event.get('purpose')), SHORT))})"
        return f"request {event.get('status_requests_used')} of {event.get('max_status_requests')} reserved{purpose}"
    if kind == Kind.ACTION_STARTED:
        return f"{_act(event)} goes out"
    if kind == Kind.STATE_CHANGED:
        before, after = event.get("before_state") or "unknown", event.get("job_state") or "unknown"
        return f"state {inert(str(before), SHORT)} -> {inert(str(after), SHORT)}"
    if kind == Kind.DECIDED:
        return story_people.decided_alone(event)
    return sentence(Group([event]), 1) or plainly(Group([event]))


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
        detail = inert(str(event.get("detail") or ""), LONG)
        yield f"received {status}" if status is not None else f"no answer: {detail}"
        if status is not None and status < 400 and group.of(Kind.ESCALATED) is None:
            yield detail.removeprefix(f"HTTP {status}: ")
        if seen.get("delivery") == Delivery.AMBIGUOUS:
            yield "delivery is ambiguous"
    else:
        state = seen.get("state")
        yield f"polled, state {inert(str(state), SHORT) if state is not None else words(str(seen.get('verdict')))}"
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
    yield f"{words(reason)}: {inert(detail, LONG)}" if is_told else words(reason)
    yield "escalated"


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
    begun = f"submitted job {inert(str(job), SHORT)}" if job is not None else "submitted, followed by its status URL"
    if group.of(Kind.ESCALATED) is None and group.of(Kind.CLOSED) is None:
        return f"{begun}, {_bounds(lead)}"
    state = seen.get("state")
    return joined(begun, _bounds(lead), f"state {inert(str(state), SHORT)}" if state is not None else "", *_follows(group))


def _bounds(event: Event) -> str:
    deadline = clock(event.get("deadline_at"), moment(event["at"]))
    return f"deadline {deadline}, budget {event.get('max_status_requests', 0)}"


def _job_id(event: Event) -> str:
    """A tracked job's id stands in the record that the event wrote."""
    for document in (event.get("set") or {}).values():
        if document and document.get("provider_job_id") is not None:
            return inert(str(document["provider_job_id"]), SHORT)
    return "by its status URL"


def _action_requested(group: Group) -> str:
    """Who approved it stands first: that is what people look for."""
    lead = group.lead
    asked, approved = who(lead), lead.get("approved_by")
    if approved is None:
        return f"{_act(lead)} asked for by {asked}"
    by = inert(actor_text(str(approved)), SHORT)
    return joined(f"{_act(lead)} approved by {by}", f"asked for by {asked}" if by != asked else "")


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
        parts.append(inert(detail, LONG))
        parts.append(f"sent again {clock(again, moment(ended['at']))}" if again else "")
        parts.append(f"ended as {words(str(closed.get('phase')))}" if closed is not None else "")
        parts.append("checks go on until it is known how the job ends" if ended.get("action") == "cancel" else "")
    return joined(*parts)


def _act(event: Event) -> str:
    action = str(event.get("action"))
    return "submission" if action == "submit" else inert(action, SHORT)


# ---- what did not go as planned ----------------------------------------------------------------------------------------------
def _reserved(group: Group) -> str:
    return "reserved, no answer"


def _withheld(group: Group) -> str:
    lead = group.lead
    return joined(f"not sent: {words(inert(str(lead.get('reason')), LONG))}", "the request stays counted", next_poll(lead))


def _lease_lost(group: Group) -> str:
    lead = group.lead
    by = f" of {inert(actor_text(str(lead['lost_by'])), SHORT)}" if lead.get("lost_by") else ""
    why = f": {inert(str(lead['reason']), LONG)}" if lead.get("reason") else ""
    escalated = group.of(Kind.ESCALATED)
    return joined(f"lease{by} lost{why}", "the request stays counted", *(_escalated(escalated) if escalated else ()))


def _late_answer(group: Group) -> str:
    lead = group.lead
    to = f" to {_act(lead)}" if lead.get("action") else ""
    job = f"job {inert(str(lead['answer_job_id']), SHORT)}" if lead.get("answer_job_id") else ""
    state = f"state {inert(str(lead['answer_state']), SHORT)}" if lead.get("answer_state") else ""
    return joined(f"late answer{to}: {lead.get('http_status', 'nothing')}", state, job, "nothing is changed by it")


def _planned(group: Group) -> str:
    """A plan that moved by itself: the reason of not sending changed."""
    lead = group.lead
    reason = words(inert(str(lead.get("reason", "")), LONG))
    if lead.get("action"):
        return f"{_act(lead)} not sent yet: {reason}"
    return joined(f"not sent: {reason}", next_poll(lead))


def _stopped(group: Group) -> str:
    return joined(*_follows(group))


def _aside(group: Group) -> str | None:
    return _beside(group.lead)


def _beside(event: Event) -> str | None:
    kind, account = event.get("kind"), inert(str(event.get("account", "")), SHORT)
    if kind == Kind.HELD:
        if event.get("until"):
            return f"account {account} held until {clock(event['until'], moment(event['at']))}"
        if event.get("spacing_ms"):
            return f"account {account} slowed to a request in {duration_text(timedelta(milliseconds=event['spacing_ms']))}"
        return None
    if kind == Kind.RELEASED:
        return f"account {account} released: {inert(str(event.get('reason', '')), LONG)}"
    if kind == Kind.HINT_REJECTED:
        hint, value = inert(str(event.get("hint")), SHORT), inert(str(event.get("value")), SHORT)
        return f'hint rejected: {hint} "{value}", {inert(str(event.get("why")), LONG)}'
    return None


_SENTENCES: Mapping[str, Callable[[Group], str | None]] = MappingProxyType(
    {
        Kind.SUBMITTED: _submitted,
        Kind.SUBMIT_ANSWERED: _submit_answered,
        Kind.ACTION_REQUESTED: _action_requested,
        Kind.ACTION_STARTED: _action_started,
        Kind.ACTION_ENDED: _action_ended,
        Kind.DECIDED: story_people.decided,
        Kind.EXTENDED: story_people.extended,
        Kind.DECISION_REFUSED: story_people.decision_refused,
        Kind.ITEM_CHANGED: story_people.item_changed,
        Kind.CHECK_RESERVED: _reserved,
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
