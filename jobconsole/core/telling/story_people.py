"""How what people did reads in the story: decisions, grants, and who looks after an item (SPEC X22, H5, H7, H10).

Only this file decides these words. `story_line.py` takes the sentences from here.
"""

from __future__ import annotations

from jobconsole.core.events import Kind
from jobconsole.core.telling.event_group import LONG, SHORT, Event, Group, clock, joined, moment, next_poll, plainly, who
from jobconsole.core.telling.terminal_text import inert
from jobconsole.core.telling.wording import counted, words

_NO_REASON = "no reason given"


def decided(group: Group) -> str:
    """Who chose what, what it changed, what comes of it, and why (H5)."""
    lead = group.lead
    planned = [event for event in group.events if event.get("kind") in (Kind.EXTENDED, Kind.CHECK_PLANNED)]
    closed, given = group.of(Kind.CLOSED), _given(lead)
    return joined(
        f"{_choice(lead)}: {_effect(lead)}",
        next_poll(planned[-1]) if planned and planned[-1].get("planned_at") else "",
        f"ended as {words(str(closed.get('phase')))}" if closed is not None else "",
        given if given == _NO_REASON else f"reason: {given}",
    )


def decided_alone(event: Event) -> str:
    """The same for a list in which nothing folds: a row is cut at its end, so the reason stands before the effect."""
    return f"{_choice(event)} ({_given(event)}): {_effect(event)}"


def _choice(event: Event) -> str:
    return f"{who(event)} chose {words(str(event.get('option')))}"


def _effect(event: Event) -> str:
    return inert(str(event.get("effect", "")), LONG).rstrip(".")


def _given(event: Event) -> str:
    return inert(str(event.get("reason_text") or _NO_REASON), LONG)


def extended(group: Group) -> str:
    """What was granted, by itself; beside the decision that granted it, the limits before and after say so."""
    lead = group.lead
    nouns = (("minutes", "minute"), ("checks", "check"), ("failures", "failure"), ("rate_limits", "rate-limit answer"))
    more = ", ".join(counted(int(lead[name]), noun) for name, noun in nouns if lead.get(name))
    return f"{more or 'nothing'} more, extension {lead.get('times')}"


def decision_refused(group: Group) -> str:
    lead = group.lead
    return f"{who(lead)} chose {words(str(lead.get('option')))}, refused: {words(str(lead.get('why')))}"


def item_changed(group: Group) -> str:
    """What became of an inbox item beside a decision (H7); who was told, and who could not be (H10)."""
    lead = group.lead
    match lead.get("change"):
        case "assigned" if lead.get("to") is None:
            return f"{who(lead)} gave it back, it was with {inert(str(lead.get('before')), SHORT)}"
        case "assigned":
            to = inert(str(lead["to"]), SHORT)
            return f"{who(lead)} takes care of it" if to == who(lead) else f"{who(lead)} gave it to {to}"
        case "snoozed":
            return f"{who(lead)} snoozed it until {clock(lead.get('until'), moment(lead['at']))}"
        case "woken":
            return f"{who(lead)} ended its snooze"
        case "noted":
            return f"{who(lead)} noted: {inert(str(lead.get('text')), LONG)}"
        case "notified":
            return f"a message goes out by {inert(str(lead.get('channels')), SHORT)}"
        case "reached" | "not_reached" | "unknown":
            return _notice_ended(lead)
    return plainly(group)


def _notice_ended(event: Event) -> str:
    """What became of the message; an unknown end is said, and stays unknown."""
    channels, detail = (inert(str(event.get(name, "")), most) for name, most in (("channels", SHORT), ("detail", LONG)))
    match event.get("change"):
        case "reached":
            return f"{channels} took the message" + (f"; {detail}" if detail else "")
        case "not_reached":
            return f"nobody was reached by {channels}: {detail}"
    return f"nobody knows whether the message went out, and it is not sent again: {detail}"
